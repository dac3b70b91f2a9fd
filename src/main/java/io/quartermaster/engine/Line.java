package io.quartermaster.engine;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/**
 * Waiting work of one group and shape: all in it stand and fall together in a plan, and the first goes first. A line
 * for the surplus workers of an elastic workload that runs has that workload alone.
 */
final class Line {

    /** What all in a line have in common. */
    record Key(
            QuotaPath path,
            Optional<String> user,
            Optional<ProfileId> profile,
            Shape shape,
            List<PoolId> pools,
            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            OptionalLong maxRuntimeMillis,
            Optional<WorkloadId> growing) {

        /**
         * @param user present where it matters who asks
         * @param maxRuntimeMillis present where it matters how long it runs
         */
        static Key waiting(Workload workload, Optional<String> user, OptionalLong maxRuntimeMillis) {
            return new Key(
                    workload.path(),
                    user,
                    workload.profile(),
                    workload.shape(),
                    workload.pools(),
                    workload.priority(),
                    workload.preemptible(),
                    workload.dedicatedOnly(),
                    maxRuntimeMillis,
                    Optional.empty());
        }

        static Key growing(Workload workload, PoolId pool) {
            return new Key(
                    workload.path(),
                    workload.user(),
                    workload.profile(),
                    workload.shape(),
                    List.of(pool),
                    workload.priority(),
                    workload.preemptible(),
                    workload.dedicatedOnly(),
                    OptionalLong.empty(),
                    Optional.of(workload.id()));
        }
    }

    /** Victims at the head, then first submitted. */
    static final Comparator<Workload> FIRST_SUBMITTED = Comparator.<Workload>comparingInt(
                    workload -> workload.state() instanceof WorkloadState.Waiting waiting && waiting.atHead() ? 0 : 1)
            .thenComparingLong(Workload::submittedMillis)
            .thenComparingLong(Workload::sequence)
            .thenComparing(Workload::id);

    private final Key key;
    private final SortedSet<Workload> members = new TreeSet<>(FIRST_SUBMITTED);
    private final Set<WorkloadId> fresh = new HashSet<>();
    private final Map<PoolId, Boolean> possible = new HashMap<>();
    private List<Reason> reasons = List.of();

    Line(Key key) {
        this.key = key;
    }

    Key key() {
        return key;
    }

    boolean surplus() {
        return key.growing().isPresent();
    }

    SortedSet<Workload> members() {
        return members;
    }

    Workload head() {
        return members.first();
    }

    boolean isEmpty() {
        return members.isEmpty();
    }

    void add(Workload workload) {
        members.add(workload);
        fresh.add(workload.id());
    }

    void remove(Workload workload) {
        members.remove(workload);
        fresh.remove(workload.id());
    }

    /** The numbers of the workers that the head asks for now: its first ones, or the first that it misses. */
    List<Integer> numbersWanted() {
        List<Integer> numbers = new ArrayList<>();
        if (head().state() instanceof WorkloadState.Holding holding) {
            numbers.add(missing(holding.allocation()).first());
        } else {
            for (int number = 0; number < key.shape().minWorkers(); number++) {
                numbers.add(number);
            }
        }
        return numbers;
    }

    /** How many workers all in the line would have beyond those that run. */
    long workersWanted() {
        return head().state() instanceof WorkloadState.Holding holding
                ? missing(holding.allocation()).size()
                : (long) members.size() * key.shape().workers();
    }

    private SortedSet<Integer> missing(Allocation allocation) {
        SortedSet<Integer> missing = new TreeSet<>();
        for (int number = 0; number < key.shape().workers(); number++) {
            missing.add(number);
        }
        allocation.workers().forEach(worker -> missing.remove(worker.number()));
        return missing;
    }

    /** Whether the pool could ever take the line's shape; asked once, as the books are opened anew with the nodes. */
    boolean couldEver(PoolId pool, BooleanSupplier ask) {
        return possible.computeIfAbsent(pool, id -> ask.getAsBoolean());
    }

    /** Why its members wait, as of the last plan. */
    List<Reason> reasons() {
        return reasons;
    }

    /**
     * Sets why they wait.
     *
     * @return those to whom this is news, in no particular order: all, or only those who joined since the last plan
     */
    List<Workload> explain(List<Reason> newReasons) {
        boolean changed = !Wait.kinds(reasons).equals(Wait.kinds(newReasons));
        reasons = newReasons;
        List<Workload> toTell = new ArrayList<>();
        if (changed || !fresh.isEmpty()) {
            members.stream()
                    .filter(member -> changed || fresh.contains(member.id()))
                    .forEach(toTell::add);
        }
        fresh.clear();
        return toTell;
    }
}
