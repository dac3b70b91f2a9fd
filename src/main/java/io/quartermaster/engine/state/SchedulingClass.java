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
 * Waiting workloads of one group and shape. One verdict per plan covers all of them, and the first is the head. A class
 * for the surplus workers of a running elastic workload has that workload as its only member.
 */
public final class SchedulingClass implements ChangeLog.StateChange {

    /** The properties that all members of a class share. */
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
         * @param user present if the user matters
         * @param strict its queue, if that is a {@code strict-fifo} queue
         * @param maxRuntimeMillis present if the run time matters
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
                    workload.pinnedNode(),
                    Optional.empty());
        }

        /** Uses the properties in which most classes differ. */
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

    /**
     * Victims at the head, then first submitted. This order holds between groups, where an admin's rank does not count.
     */
    public static final Comparator<Workload> FIRST_SUBMITTED = (a, b) -> {
        int byHead = Boolean.compare(isAtHead(b), isAtHead(a));
        int byTime = byHead != 0 ? byHead : Long.compare(a.submittedMillis(), b.submittedMillis());
        int bySequence = byTime != 0 ? byTime : Long.compare(a.sequence(), b.sequence());
        return bySequence != 0 ? bySequence : a.id().compareTo(b.id());
    };

    /**
     * The order within a group and a priority: victims at the head, then work that an admin ranked, then first
     * submitted.
     */
    public static final Comparator<Workload> IN_GROUP = (a, b) -> {
        long placeOfA = place(a);
        long placeOfB = place(b);
        return placeOfA == placeOfB || isAtHead(a) != isAtHead(b)
                ? FIRST_SUBMITTED.compare(a, b)
                : Long.compare(placeOfA, placeOfB);
    };

    /** Orders workloads where neither quotas nor queues do: higher priority first, then first submitted. */
    public static List<Workload> inPriorityOrder(Collection<Workload> workloads) {
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
    private final ChangeLog.AttemptChange attemptChange = new ChangeLog.AttemptChange(this);
    private final ClassMembers classMembers = new ClassMembers();
    private final ClassMembers unexplained = new ClassMembers();
    private int firstWanted;
    private @Nullable StrictQueue queue;
    private @Nullable Shape effectiveShape;
    private @Nullable List<PoolRequest> requests;
    private @Nullable PlacementRequest placementRequest;
    private List<Reason> reasons = List.of();

    /** @param number the number of the class, unique within its scheduling state */
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

    /** The change to log when only the next attempt of the class has changed. */
    public ChangeLog.AttemptChange attemptChange() {
        return attemptChange;
    }

    public boolean isGrowth() {
        return key.growingWorkload().isPresent();
    }

    /** Whether all members make one equal request to one pool. Then the verdict on one member always holds for all. */
    public boolean isRegular() {
        return key.pools().size() == 1 && takesAnyNode() && !acceptsFewerGpus();
    }

    /** Whether its members accept a reduced start. */
    public boolean acceptsFewerGpus() {
        return key.shape().takesFewer();
    }

    /** Whether its members may be on every node that their shape allows. */
    boolean takesAnyNode() {
        return key.pinnedNode().isEmpty()
                && (!isGrowth()
                        || key.shape().isPlain()
                                && key.shape().requiredLevel().isEmpty()
                                && key.shape().slice().isEmpty());
    }

    /** All members, in order. */
    public ClassMembers members() {
        return classMembers;
    }

    public Workload head() {
        return classMembers.getFirst();
    }

    public boolean isEmpty() {
        return classMembers.isEmpty();
    }

    /** Adds the class to a strict queue, in which its members wait for their turn. */
    void enterStrictQueue(StrictQueue strict) {
        queue = strict;
    }

    /** The strict queue of its members; empty if the head may start regardless of other waiting work. */
    public Optional<StrictQueue> queue() {
        return Optional.ofNullable(queue);
    }

    /** Whether the order of its queue permits the head to start. */
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

    /**
     * The shape that all members request: the full shape, or the largest reduced one if the full one could never be
     * granted. It is computed once.
     */
    Shape effectiveShape(Supplier<Shape> compute) {
        Shape known = acceptsFewerGpus() ? effectiveShape : key.shape();
        if (known == null) {
            known = compute.get();
            effectiveShape = known;
        }
        return known;
    }

    /** The requests to each of its known pools, in the order of the pools; computed once. */
    List<PoolRequest> requests(Supplier<List<PoolRequest>> compute) {
        List<PoolRequest> known = requests;
        if (known == null) {
            known = compute.get();
            requests = known;
        }
        return known;
    }

    /** The head's placement request; computed once if it is the same for all members. */
    PlacementRequest placementRequest(Supplier<PlacementRequest> compute) {
        if (isGrowth()) {
            return compute.get();
        }
        PlacementRequest known = placementRequest;
        if (known == null) {
            known = compute.get();
            placementRequest = known;
        }
        return known;
    }

    /**
     * The numbers of the workers that the head requests now: its minimum, or the first missing worker with the rest of
     * its slice.
     */
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

    /** Sets below their minimum go first. */
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

    /** The number of workers that all members want beyond those that run. */
    public long workersWanted() {
        return head().state() instanceof WorkloadPhase.Holding holding
                ? missing(holding.allocation()).size()
                : (long) classMembers.size() * key.shape().allWorkers();
    }

    /**
     * The amount that a number of wanted workers counts as in a pool while they wait. With several worker sets, whole
     * workloads count as an average, and surplus workers count as the next one that is missing.
     */
    public long gpuMilliOf(PoolCapacity poolCapacity, long workerCount) {
        Shape shape = effectiveShape == null ? key.shape() : effectiveShape;
        if (shape.isPlain()) {
            return poolCapacity.gpuMilliOf(shape.gpus()) * workerCount;
        }
        if (isGrowth()) {
            return poolCapacity.gpuMilliOf(shape.of(firstWanted).gpus()) * workerCount;
        }
        long ofOne = 0;
        for (Shape.WorkerSet set : shape.sets()) {
            ofOne += poolCapacity.gpuMilliOf(set.set().gpus()) * set.set().workers();
        }
        return ofOne * workerCount / shape.allWorkers();
    }

    private SortedSet<Integer> missing(Allocation allocation) {
        SortedSet<Integer> missing = new TreeSet<>();
        for (int number = 0; number < key.shape().allWorkers(); number++) {
            missing.add(number);
        }
        allocation.workers().forEach(worker -> missing.remove(worker.number()));
        return missing;
    }

    /** The number of workers that the head requests. */
    public int workersOfHead() {
        if (!isGrowth()) {
            return key.shape().allMinWorkers();
        }
        return key.shape().isPlain() && key.shape().slice().isEmpty()
                ? 1
                : numbersWanted().size();
    }

    /** The reasons that the members reported last. */
    public List<Reason> reasons() {
        return reasons;
    }

    /** Whether a member has not yet reported the reasons of the class. */
    public boolean isUnexplained(Workload member) {
        return reasons.isEmpty() || unexplained.contains(member);
    }

    /** All members that reported the reasons of the class. */
    List<Workload> explainedMembers() {
        if (reasons.isEmpty() || isGrowth()) {
            return List.of();
        }
        return unexplained.isEmpty()
                ? classMembers.copy()
                : classMembers.stream()
                        .filter(member -> !unexplained.contains(member))
                        .toList();
    }

    /** Whether some member has not yet reported the reasons of the class. */
    public boolean hasUnexplained() {
        return reasons.isEmpty() || !unexplained.isEmpty();
    }

    /** Replaces the reasons by others of the same kinds with new numbers. */
    public void renumber(List<Reason> sameReasons) {
        reasons = sameReasons;
    }

    /**
     * Sets the reasons of the class.
     *
     * @param reportedReasons the reasons of members that did not yet report those of the class; from now on they do
     * @return the members whose reasons change, in order
     */
    public List<Workload> explain(List<Reason> newReasons, ReportedReasons reportedReasons) {
        Workload apart = firstInQueue();
        boolean changed = !WaitReasons.kinds(reasons).equals(WaitReasons.kinds(newReasons));
        boolean noneExplained = reasons.isEmpty() && reportedReasons.isEmpty();
        List<Workload> members;
        if (apart == null && changed && unexplained.isEmpty() && (noneExplained || !reasons.isEmpty())) {
            members = classMembers.copy();
        } else {
            members = new ArrayList<>();
            for (Workload member : changed ? classMembers : unexplained) {
                if (member == apart) {
                    continue;
                }
                boolean isChanged =
                        isUnexplained(member) ? reportedReasons.isChanged(member.id(), newReasons) : changed;
                if (isChanged) {
                    members.add(member);
                }
                reportedReasons.forget(member.id());
            }
        }
        reasons = newReasons;
        unexplained.clear();
        if (apart != null) {
            unexplained.add(apart);
        }
        return members;
    }

    /**
     * Separates the first workload of a strict queue, which reports its own reasons from now on. Until now it reported
     * those of the class.
     */
    public void setFirstApart(ReportedReasons reportedReasons) {
        Workload first = firstInQueue();
        if (first != null && !isUnexplained(first)) {
            reportedReasons.put(first.id(), reasons);
            unexplained.add(first);
        }
    }

    /** The head, if it is the first of its strict queue. */
    @Nullable
    public Workload firstInQueue() {
        return queue != null && isTurn() ? head() : null;
    }
}
