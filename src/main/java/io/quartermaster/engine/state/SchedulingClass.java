package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Waiting work of one group and shape: all in it stand and fall together in a plan, and the first goes first. A line
 * for the surplus workers of an elastic workload that runs has that workload alone.
 */
public final class SchedulingClass implements ChangeLog.StateChange {

    /** What all in a line have in common. */
    public record Key(
            QuotaPath path,
            Optional<String> user,
            Optional<ProfileId> profile,
            Optional<QueueId> strictQueue,
            Shape shape,
            List<PoolId> pools,
            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            OptionalLong maxRuntimeMillis,
            Optional<NodeId> pinnedNode,
            Optional<WorkloadId> growingWorkload) {

        /**
         * @param user present where it matters who asks
         * @param strict its queue, where that starts its work in strict order
         * @param maxRuntimeMillis present where it matters how long it runs
         */
        static Key waiting(
                Workload workload, Optional<String> user, Optional<QueueId> strict, OptionalLong maxRuntimeMillis) {
            return new Key(
                    workload.path(),
                    user,
                    workload.profile(),
                    strict,
                    workload.shape(),
                    workload.pools(),
                    workload.priority(),
                    workload.preemptible(),
                    workload.dedicatedOnly(),
                    maxRuntimeMillis,
                    workload.only(),
                    Optional.empty());
        }

        /** Of what tells most lines apart. */
        @Override
        public int hashCode() {
            return ((path.hashCode() * 31 + shape.hashCode()) * 31 + priority) * 31 + growingWorkload.hashCode();
        }

        static Key growingWorkload(Workload workload, Allocation held) {
            return new Key(
                    workload.path(),
                    workload.user(),
                    workload.profile(),
                    Optional.empty(),
                    workload.shape().as(held),
                    List.of(held.pool()),
                    workload.priority(),
                    workload.preemptible(),
                    workload.dedicatedOnly(),
                    OptionalLong.empty(),
                    Optional.empty(),
                    Optional.of(workload.id()));
        }
    }

    /** Victims at the head, then first submitted: between groups, where no admin's order counts. */
    public static final Comparator<Workload> FIRST_SUBMITTED = (a, b) -> {
        int byHead = Boolean.compare(isAtHead(b), isAtHead(a));
        int byTime = byHead != 0 ? byHead : Long.compare(a.submittedMillis(), b.submittedMillis());
        int bySequence = byTime != 0 ? byTime : Long.compare(a.sequence(), b.sequence());
        return bySequence != 0 ? bySequence : a.id().compareTo(b.id());
    };

    /** Within a group and a priority: victims at the head, then those whom an admin gave a place, then first submitted. */
    public static final Comparator<Workload> IN_GROUP = (a, b) -> {
        long placeOfA = place(a);
        long placeOfB = place(b);
        return placeOfA == placeOfB || isAtHead(a) != isAtHead(b)
                ? FIRST_SUBMITTED.compare(a, b)
                : Long.compare(placeOfA, placeOfB);
    };

    /** In the order in which they come where neither quotas nor queues tell them apart: higher priority first, then first submitted. */
    public static List<Workload> inTurn(Collection<Workload> workloads) {
        List<Workload> inOrder = new ArrayList<>(workloads);
        inOrder.sort(Comparator.comparingInt((Workload workload) -> -workload.priority())
                .thenComparing(FIRST_SUBMITTED));
        return inOrder;
    }

    public static long place(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Waiting waiting
                ? waiting.place().orElse(Long.MAX_VALUE)
                : Long.MAX_VALUE;
    }

    public static boolean isAtHead(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Waiting waiting && waiting.atHead();
    }

    private final Key key;
    private final GroupState groupState;
    private final long number;
    private final ChangeLog.AttemptMade attemptMarker = new ChangeLog.AttemptMade(this);
    private final ClassMembers classMembers = new ClassMembers();
    private final ClassMembers unexplained = new ClassMembers();
    private int firstWanted;
    private @Nullable StrictQueue queue;
    private @Nullable Shape effectiveShape;
    private @Nullable List<PoolRequest> requests;
    private @Nullable PlacementRequest placementRequest;
    private List<Reason> reasons = List.of();

    /** @param number no other line of the same books has it */
    SchedulingClass(Key key, GroupState groupState, long number) {
        this.number = number;
        this.key = key;
        this.groupState = groupState;
    }

    public Key key() {
        return key;
    }

    GroupState group() {
        return groupState;
    }

    public long number() {
        return number;
    }

    /** What to touch when what it tries next has changed, and nothing else of it. */
    public ChangeLog.AttemptMade attemptMarker() {
        return attemptMarker;
    }

    public boolean isGrowth() {
        return key.growingWorkload().isPresent();
    }

    /** Whether all in it ask the same of one pool, and nothing else will do: what is known of one is known of all, at any time. */
    public boolean isRegular() {
        return key.pools().size() == 1 && takesAnyNode() && !acceptsFewerGpus();
    }

    /** Whether those in it start with fewer GPUs where they cannot have all. */
    public boolean acceptsFewerGpus() {
        return key.shape().takesFewer();
    }

    /** Whether it may be on every node that its shape allows. */
    boolean takesAnyNode() {
        return key.pinnedNode().isEmpty()
                && (!isGrowth()
                        || key.shape().isPlain()
                                && key.shape().requiredLevel().isEmpty()
                                && key.shape().slice().isEmpty());
    }

    /** Everybody in it, in order. */
    public ClassMembers members() {
        return classMembers;
    }

    public Workload head() {
        return classMembers.getFirst();
    }

    public boolean isEmpty() {
        return classMembers.isEmpty();
    }

    /** Its members wait for their turn in a queue of strict order. */
    void enterStrictQueue(StrictQueue strict) {
        queue = strict;
    }

    /** The queue in which its members wait for their turn; empty where its head may start whoever else waits. */
    public Optional<StrictQueue> queue() {
        return Optional.ofNullable(queue);
    }

    /** Whether its head may start as far as the order of its queue goes. */
    public boolean isTurn() {
        StrictQueue strict = queue;
        return strict == null || strict.isFirst(head());
    }

    void add(Workload workload) {
        classMembers.add(workload);
        if (isGrowth() && !key.shape().isPlain()) {
            firstWanted = numbersWanted().getFirst();
        }
        if (!reasons.isEmpty()) {
            unexplained.add(workload);
        }
    }

    void remove(Workload workload) {
        if (classMembers.remove(workload) && !unexplained.isEmpty()) {
            unexplained.remove(workload);
        }
    }

    /** What everybody in it asks for: its shape or, where fewer GPUs are the most that it could ever have, that; asked once. */
    Shape effectiveShape(Supplier<Shape> ask) {
        Shape known = acceptsFewerGpus() ? effectiveShape : key.shape();
        if (known == null) {
            known = ask.get();
            effectiveShape = known;
        }
        return known;
    }

    /** What it asks of each of its pools that is known, in its order; asked once. */
    List<PoolRequest> requests(Supplier<List<PoolRequest>> ask) {
        List<PoolRequest> known = requests;
        if (known == null) {
            known = ask.get();
            requests = known;
        }
        return known;
    }

    /** What its head asks of devices; where that is the same for everybody in it, asked once. */
    PlacementRequest request(Supplier<PlacementRequest> ask) {
        if (isGrowth()) {
            return ask.get();
        }
        PlacementRequest known = placementRequest;
        if (known == null) {
            known = ask.get();
            placementRequest = known;
        }
        return known;
    }

    /** The numbers of the workers that the head asks for now: its first ones, or the first that it misses, with those of its slice. */
    List<Integer> numbersWanted() {
        return head().state() instanceof WorkloadPhase.Holding holding
                ? numbersMissing(holding.allocation())
                : numbersToStart();
    }

    private List<Integer> numbersToStart() {
        List<Integer> numbers = new ArrayList<>();
        for (Shape.WorkerSet set : key.shape().sets()) {
            for (int i = 0; i < set.set().minWorkers(); i++) {
                numbers.add(set.first() + i);
            }
        }
        return numbers;
    }

    /** Sets below their minimum go before others. */
    private List<Integer> numbersMissing(Allocation held) {
        SortedSet<Integer> missing = missing(held);
        int first = missing.first();
        for (Shape.WorkerSet set : key.shape().isPlain()
                ? List.<Shape.WorkerSet>of()
                : key.shape().sets().reversed()) {
            SortedSet<Integer> ofSet =
                    missing.subSet(set.first(), set.first() + set.set().workers());
            boolean below = set.of(held).size() < set.set().minWorkers();
            first = below && !ofSet.isEmpty() ? ofSet.first() : first;
        }
        Shape.WorkerSet set = key.shape().setOf(first);
        int end = set.first() + (set.sliceOf(first) + 1) * set.set().step();
        return List.copyOf(missing.subSet(first, end));
    }

    /** How many workers all in the line would have beyond those that run. */
    public long workersWanted() {
        return head().state() instanceof WorkloadPhase.Holding holding
                ? missing(holding.allocation()).size()
                : (long) classMembers.size() * key.shape().allWorkers();
    }

    /**
     * What so many of the workers wanted count as in a pool while they wait. Where they are of several sets, that is known of whole workloads; of surplus workers it is what
     * those count as which are next.
     */
    public long gpuMilliOf(PoolCapacity poolCapacity, long workersOfLine) {
        Shape shape = effectiveShape == null ? key.shape() : effectiveShape;
        if (shape.isPlain()) {
            return poolCapacity.gpuMilliOf(shape.gpus()) * workersOfLine;
        }
        if (isGrowth()) {
            return poolCapacity.gpuMilliOf(shape.of(firstWanted).gpus()) * workersOfLine;
        }
        long ofOne = 0;
        for (Shape.WorkerSet set : shape.sets()) {
            ofOne += poolCapacity.gpuMilliOf(set.set().gpus()) * set.set().workers();
        }
        return ofOne * workersOfLine / shape.allWorkers();
    }

    private SortedSet<Integer> missing(Allocation allocation) {
        SortedSet<Integer> missing = new TreeSet<>();
        for (int number = 0; number < key.shape().allWorkers(); number++) {
            missing.add(number);
        }
        allocation.workers().forEach(worker -> missing.remove(worker.number()));
        return missing;
    }

    /** How many workers its head asks for. */
    public int workersOfHead() {
        if (!isGrowth()) {
            return key.shape().allMinWorkers();
        }
        return key.shape().isPlain() && key.shape().slice().isEmpty()
                ? 1
                : numbersWanted().size();
    }

    /** Why its members wait, as they were told last. */
    public List<Reason> reasons() {
        return reasons;
    }

    /** Whether a member was not told the line's reasons yet. */
    public boolean isUnexplained(Workload member) {
        return reasons.isEmpty() || unexplained.contains(member);
    }

    /** All who were told the line's reasons. */
    List<Workload> hasNomination() {
        if (reasons.isEmpty() || isGrowth()) {
            return List.of();
        }
        return unexplained.isEmpty()
                ? classMembers.copy()
                : classMembers.stream()
                        .filter(member -> !unexplained.contains(member))
                        .toList();
    }

    /** Whether somebody was not told yet. */
    public boolean hasUnexplained() {
        return reasons.isEmpty() || !unexplained.isEmpty();
    }

    /** Brings the numbers up to date; the kinds of the reasons are the same. */
    public void renumber(List<Reason> sameReasons) {
        reasons = sameReasons;
    }

    /**
     * Sets why they wait.
     *
     * @param told what those were told who are not spoken for by the line yet; they are from now on
     * @return those to whom this is news, in order
     */
    public List<Workload> explain(List<Reason> newReasons, ReportedReasons reportedReasons) {
        Workload apart = firstInQueue();
        boolean changed = !WaitReasons.kinds(reasons).equals(WaitReasons.kinds(newReasons));
        boolean allUntold = reasons.isEmpty() && reportedReasons.isEmpty();
        List<Workload> toTell;
        if (apart == null && changed && unexplained.isEmpty() && (allUntold || !reasons.isEmpty())) {
            toTell = classMembers.copy();
        } else {
            toTell = new ArrayList<>();
            for (Workload member : changed ? classMembers : unexplained) {
                if (member == apart) {
                    continue;
                }
                boolean news = isUnexplained(member) ? reportedReasons.isChanged(member.id(), newReasons) : changed;
                if (news) {
                    toTell.add(member);
                }
                reportedReasons.forget(member.id());
            }
        }
        reasons = newReasons;
        unexplained.clear();
        if (apart != null) {
            unexplained.add(apart);
        }
        return toTell;
    }

    /** Whose turn it is in its queue is told its own reasons from now on; so far it was told those of the others. */
    public void setFirstApart(ReportedReasons reportedReasons) {
        Workload first = firstInQueue();
        if (first != null && !isUnexplained(first)) {
            reportedReasons.put(first.id(), reasons);
            unexplained.add(first);
        }
    }

    /** The head, where its members wait for their turn in a queue of strict order and it is the head's. */
    @Nullable
    public Workload firstInQueue() {
        return queue != null && isTurn() ? head() : null;
    }
}
