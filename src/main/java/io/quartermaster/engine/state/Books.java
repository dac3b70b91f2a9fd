package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadState;

import io.quartermaster.engine.placement.Cluster;
import io.quartermaster.engine.preemption.Holder;
import io.quartermaster.engine.preemption.RunningWork;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.Budgets;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Every workload booked where its state puts it: on devices and in trees, among those who run, in a line, among those
 * for whom a place is kept. What a workload's record says is all there is to it, so booking it out is booking it in
 * backwards. What changes is noted in {@link #touches}.
 */
public final class Books {
    private final OptionalLong patienceMillis;
    private final boolean turns;
    private final boolean workEndsAtClose;
    private final SortedMap<PoolId, Long> poolTurns = new TreeMap<>();
    private long nowMillis;
    private final boolean agesMatter;
    private final Facts facts;
    private final Prospects prospects;
    private final Told told;
    private final Cluster cluster;
    private final RunningWork running = new RunningWork();
    private final boolean allIsLent;
    private final Touches touches = new Touches();
    private final Map<Line.Key, Line> lines = new LinkedHashMap<>();
    private final Set<Line> notPlain = new LinkedHashSet<>();
    private final Map<QuotaPath, Group> groups = new HashMap<>();
    private final Map<String, List<Line>> ofTenant = new HashMap<>();
    private final Map<QueueId, StrictQueue> strictQueues = new HashMap<>();
    private final SortedMap<WorkloadId, Workload> nominated = new TreeMap<>();
    private final SortedMap<WorkloadId, Workload> incomplete = new TreeMap<>();
    private final SortedMap<WorkloadId, Workload> away = new TreeMap<>();
    private final NavigableMap<Long, Integer> startedAt = new TreeMap<>();

    /** When work that started from a backfill reservation may be reclaimed by the right of fair share, too. */
    private final NavigableMap<Long, Integer> reclaimableFrom = new TreeMap<>();

    private long linesOpened;

    /**
     * @param budgets what there are, and what is left of them
     * @param nowMillis when what the calendar says is read
     * @param patienceMillis absent = there are no backfill reservations, and it does not matter how long work will run
     * @param agesMatter whether it matters how long work has run
     * @param told what waiting work was told; kept up to date as it leaves and joins lines
     */
    public Books(Facts facts, Budgets budgets, long nowMillis, OptionalLong patienceMillis, boolean agesMatter, Told told) {
        this.patienceMillis = patienceMillis;
        this.turns = !facts.calendar().isEmpty() || !budgets.isEmpty();
        this.workEndsAtClose = facts.calendar().anyPreemptsAtClose();
        this.nowMillis = nowMillis;
        this.agesMatter = agesMatter;
        this.told = told;
        this.facts = facts;
        cluster = Cluster.of(
                facts.poolsAt(nowMillis),
                facts.nodes().values(),
                facts.quotasAt(nowMillis),
                facts.caps(),
                facts.paths());
        cluster.meterBy(budgets.meters());
        budgets.tell(cluster.meters());
        cluster.trees().forEach(tree -> tree.nowMillis(nowMillis));
        for (Pool pool : facts.calendar().anyHours() ? facts.pools().values() : List.<Pool>of()) {
            pool.hours()
                    .map(hours -> hours.nextTurn(nowMillis))
                    .filter(OptionalLong::isPresent)
                    .ifPresent(turn -> poolTurns.put(pool.id(), turn.getAsLong()));
        }
        allIsLent = cluster.trees().stream().allMatch(QuotaTree::lendsAll);
        prospects = new Prospects(facts, new Wishes(facts, this), allIsLent);
        List<Workload> inOrder = new ArrayList<>(facts.workloads().size());
        facts.workloads().forEach(inOrder::add);
        inOrder.sort(Line.IN_GROUP);
        inOrder.forEach(this::enter);
    }

    /** Hands over what everybody in a line was told, before the books are closed. */
    public void close() {
        lines.values().forEach(told::takeOver);
    }

    public RunningWork running() {
        return running;
    }

    public Cluster cluster() {
        return cluster;
    }

    /** Time goes on. The books are opened anew when something turns. */
    public void comeTo(long millis) {
        nowMillis = millis;
    }

    /** When a pool opens or closes next; empty where nothing is known of that. */
    public OptionalLong turnOf(PoolId pool) {
        Long turn = poolTurns.get(pool);
        return turn == null ? OptionalLong.empty() : OptionalLong.of(turn);
    }

    /**
     * Whether something could start in a pool after so many milliseconds, as far as its hours go: in one that stops work when it closes, what states its
     * maximum run time starts only if that is over by then, and what cannot be preempted only if it states it.
     */
    public boolean isOpen(Pool pool, long inMillis, boolean preemptible, OptionalLong maxRuntimeMillis) {
        OptionalLong closes = turnOf(pool.id());
        long startMillis = nowMillis + inMillis;
        boolean stopsWork = closes.isPresent()
                && pool.hours()
                        .filter(hours -> hours.atClose() == Hours.AtClose.PREEMPT)
                        .isPresent();
        boolean closesBefore = inMillis > 0 && closes.isPresent() && closes.getAsLong() <= startMillis;
        return pool.takesWork()
                && !closesBefore
                && (!stopsWork
                        || (maxRuntimeMillis.isPresent()
                                ? startMillis + maxRuntimeMillis.getAsLong() <= closes.getAsLong()
                                : preemptible));
    }

    /** Whether something could ever start, whoever else is there, as far as quotas and what others lend go. */
    public boolean mayEver(Ask ask) {
        return prospects.mayEver(ask);
    }

    /** What changed since the books were opened. */
    public Touches touches() {
        return touches;
    }

    /** Lines with somebody in them. */
    public Collection<Line> lines() {
        return Collections.unmodifiableCollection(lines.values());
    }

    /** Those whose turn depends on more than one pool, or on who is at their head. */
    public Collection<Line> linesNotPlain() {
        return Collections.unmodifiableCollection(notPlain);
    }

    public Optional<Line> line(Workload workload) {
        return Optional.ofNullable(lines.get(key(workload)));
    }

    /** All for whom a place is kept, in order of their ids. */
    public List<Workload> nominated() {
        return nominated.isEmpty() ? List.of() : List.copyOf(nominated.values());
    }

    /** All that lost workers which they cannot run without, in order of their ids. */
    public List<Workload> incomplete() {
        return incomplete.isEmpty() ? List.of() : List.copyOf(incomplete.values());
    }

    /** All that runs and moves back where it can, in a pool to which it prefers another, in order of their ids. */
    public List<Workload> away() {
        return away.isEmpty() ? List.of() : List.copyOf(away.values());
    }

    private static boolean isAway(Workload workload, WorkloadState.Holding holding) {
        return workload.movesBack()
                && workload.preemptible()
                && workload.nomination().isEmpty()
                && holding.phase() instanceof WorkloadState.Phase.Running
                && workload.pools().indexOf(holding.allocation().pool()) > 0;
    }

    /** The first moment after another at which something that still holds devices was started. */
    public OptionalLong startedAfter(long millis) {
        Long next = startedAt.higherKey(millis);
        return next == null ? OptionalLong.empty() : OptionalLong.of(next);
    }

    /** The first moment after another from which work that started from a backfill reservation may be reclaimed by the right of fair share. */
    public OptionalLong reclaimableAfter(long millis) {
        Long next = reclaimableFrom.higherKey(millis);
        return next == null ? OptionalLong.empty() : OptionalLong.of(next);
    }

    private void countReclaimable(WorkloadState.Holding holding, int more) {
        if (holding.fromReservation() && patienceMillis.isPresent()) {
            reclaimableFrom.merge(
                    holding.startedMillis() + patienceMillis.getAsLong(),
                    more,
                    (count, change) -> count + change == 0 ? null : count + change);
        }
    }

    /** Whether the trees have a place for the path. */
    public boolean knows(QuotaPath path) {
        if (groups.containsKey(path)) {
            return true;
        }
        for (QuotaTree tree : cluster.trees()) {
            if (!tree.knows(path)) {
                return false;
            }
        }
        return true;
    }

    private Group group(QuotaPath path) {
        Group known = groups.get(path);
        if (known != null) {
            return known;
        }
        List<QuotaNode> leaves = new ArrayList<>();
        cluster.trees().forEach(tree -> leaves.add(tree.leaf(path)));
        Group group = new Group(ofTenant.computeIfAbsent(path.tenant(), tenant -> new ArrayList<>()), leaves);
        groups.put(path, group);
        return group;
    }

    /** What the group uses is not what it was; where something is kept idle, that bounds everybody. */
    private void touch(QuotaPath path) {
        if (allIsLent) {
            Group group = group(path);
            touches.add(group.touch(!facts.caps().isEmpty()));
            if (group.takeCapacityPassed()) {
                touches.add(Touches.CAPACITY);
            }
        } else {
            touches.forgetAll();
        }
    }

    /** A fair share is not what it was: of a group's own, it bounds what the group may take back. */
    public void fairShareMoved(QuotaNode node) {
        touches.add(new FairShareMoved(node));
        Group group = node.children().isEmpty() ? groups.get(node.path()) : null;
        if (group != null) {
            touches.add(group);
        }
    }

    public void enter(Workload workload) {
        workload.nomination().ifPresent(place -> {
            cluster.add(tenure(workload, place), When.NEXT);
            nominated.put(workload.id(), workload);
            touch(workload.path());
        });
        switch (workload.state()) {
            case WorkloadState.Waiting waiting -> {
                if (!workload.held() && workload.nomination().isEmpty()) {
                    join(key(workload), workload);
                } else if (!workload.held()) {
                    facts.strictQueue(workload).ifPresent(queue -> queueUp(queue(queue), workload));
                }
            }
            case WorkloadState.Holding holding -> hold(workload, holding);
        }
    }

    private void hold(Workload workload, WorkloadState.Holding holding) {
        Tenure tenure = tenure(workload, holding.allocation());
        cluster.add(tenure, When.NOW);
        if (holding.phase().isStaying()) {
            cluster.add(tenure, When.NEXT);
        } else {
            remaining(holding).ifPresent(rest -> cluster.add(tenure(workload, rest), When.NEXT));
        }
        holder(workload, holding).ifPresent(running::add);
        if (isAway(workload, holding)) {
            away.put(workload.id(), workload);
        }
        growth(workload, holding).ifPresent(key -> join(key, workload));
        if (holding.phase() instanceof WorkloadState.Phase.Incomplete) {
            incomplete.put(workload.id(), workload);
        }
        if (agesMatter) {
            startedAt.merge(holding.startedMillis(), 1, Integer::sum);
        }
        countReclaimable(holding, 1);
        touch(workload.path());
    }

    /** Undoes {@link #enter}. */
    public void leave(Workload workload) {
        workload.nomination().ifPresent(place -> {
            cluster.remove(tenure(workload, place), When.NEXT);
            nominated.remove(workload.id());
            touch(workload.path());
        });
        switch (workload.state()) {
            case WorkloadState.Waiting waiting -> {
                if (!workload.held() && workload.nomination().isEmpty()) {
                    quit(key(workload), workload);
                } else if (!workload.held()) {
                    facts.strictQueue(workload).ifPresent(queue -> leaveQueue(queue(queue), workload));
                }
            }
            case WorkloadState.Holding holding -> letGo(workload, holding);
        }
    }

    private void letGo(Workload workload, WorkloadState.Holding holding) {
        cluster.remove(tenure(workload, holding.allocation()), When.NOW);
        remaining(holding).ifPresent(rest -> cluster.remove(tenure(workload, rest), When.NEXT));
        holder(workload, holding).ifPresent(running::remove);
        if (isAway(workload, holding)) {
            away.remove(workload.id());
        }
        growth(workload, holding).ifPresent(key -> quit(key, workload));
        if (holding.phase() instanceof WorkloadState.Phase.Incomplete) {
            incomplete.remove(workload.id());
        }
        if (agesMatter) {
            startedAt.merge(holding.startedMillis(), -1, (count, less) -> count + less == 0 ? null : count + less);
        }
        countReclaimable(holding, -1);
        touch(workload.path());
    }

    /** Books a workload out as it was and in as it is. */
    public void replace(Workload before, Workload after) {
        boolean waitsOn = after.state() instanceof WorkloadState.Waiting && !after.held();
        if (waitsOn && before.state() instanceof WorkloadState.Waiting) {
            line(before)
                    .filter(line -> line.members().contains(before) && !line.isFresh(before))
                    .ifPresent(line -> told.put(before.id(), line.reasons()));
        }
        leave(before);
        enter(after);
    }

    /** Starts the first of a line. */
    public void start(Line line, Workload after) {
        quit(line, line.head());
        enter(after);
    }

    /** The line of waiting work; its user and its running time tell it apart where they matter. */
    private Line.Key key(Workload workload) {
        boolean userMatters = cluster.ceilings().tellUsersApart(workload.path());
        return Line.Key.waiting(
                workload,
                userMatters ? workload.user() : Optional.empty(),
                facts.strictQueue(workload),
                patienceMillis.isPresent() || workEndsAtClose || turns && !workload.preemptible()
                        ? workload.maxRuntimeMillis()
                        : OptionalLong.empty());
    }

    private void join(Line.Key key, Workload workload) {
        Line known = lines.get(key);
        Line line = known == null ? open(key) : known;
        line.add(workload);
        touches.add(line);
        if (known == null && key.strict().isPresent() && prospects.canEverRun(line)) {
            line.queueUp(queue(key.strict().get()));
        }
        line.queue().ifPresent(queue -> queueUp(queue, workload));
    }

    private Line open(Line.Key key) {
        Line line = new Line(key, group(key.path()), linesOpened++);
        lines.put(key, line);
        line.group().add(line);
        if (!line.isPlain()) {
            notPlain.add(line);
        }
        return line;
    }

    private StrictQueue queue(QueueId id) {
        return strictQueues.computeIfAbsent(id, key -> new StrictQueue());
    }

    private void queueUp(StrictQueue queue, Workload workload) {
        Optional<Workload> first = queue.first();
        queue.add(workload);
        turn(first, queue.first());
    }

    private void leaveQueue(StrictQueue queue, Workload workload) {
        Optional<Workload> first = queue.first();
        queue.remove(workload);
        turn(first, queue.first());
    }

    /** It is another's turn in a queue: both may try something else than before. */
    private void turn(Optional<Workload> from, Optional<Workload> to) {
        if (!from.equals(to)) {
            from.ifPresent(this::touchLine);
            to.ifPresent(this::touchLine);
        }
    }

    private void touchLine(Workload workload) {
        Line line = workload.nomination().isPresent() ? null : lines.get(key(workload));
        if (line != null) {
            touches.add(line);
        }
    }

    private void quit(Line.Key key, Workload workload) {
        Line line = lines.get(key);
        if (line != null) {
            quit(line, workload);
        }
    }

    private void quit(Line line, Workload workload) {
        line.remove(workload);
        touches.add(line);
        line.queue().ifPresent(queue -> leaveQueue(queue, workload));
        if (line.isEmpty()) {
            lines.remove(line.key());
            line.group().remove(line);
            notPlain.remove(line);
        }
    }

    public static Tenure tenure(Workload workload, Allocation allocation) {
        boolean whole = !(workload.state() instanceof WorkloadState.Holding holding)
                || holding.allocation().equals(allocation)
                || !holding.phase().isStaying();
        return new Tenure(
                workload.path(),
                workload.user(),
                workload.shape().as(allocation),
                workload.preemptible(),
                allocation,
                whole);
    }

    /** What is left once all who were told to stop have left. */
    public static Optional<Allocation> remaining(WorkloadState.Holding holding) {
        return switch (holding.phase()) {
            case WorkloadState.Phase.Running running -> Optional.of(holding.allocation());
            case WorkloadState.Phase.Incomplete incomplete -> Optional.of(holding.allocation());
            case WorkloadState.Phase.Stopping stopping -> Optional.empty();
            case WorkloadState.Phase.Shrinking shrinking ->
                Optional.of(holding.allocation().without(shrinking.workers()));
        };
    }

    /** Running work that may have to give way, with what it keeps; not while a place is kept for more of it. */
    static Optional<Holder> holder(Workload workload, WorkloadState.Holding holding) {
        Optional<Allocation> keeps = remaining(holding);
        if (!workload.preemptible() || keeps.isEmpty() || workload.nomination().isPresent()) {
            return Optional.empty();
        }
        OptionalLong leavingBy = holding.phase() instanceof WorkloadState.Phase.Shrinking shrinking
                ? OptionalLong.of(shrinking.deadlineMillis())
                : OptionalLong.empty();
        return Optional.of(new Holder(
                workload.id(),
                tenure(workload, keeps.get()),
                workload.priority(),
                workload.shape().allMinWorkers(),
                holding.startedMillis(),
                workload.submittedMillis(),
                workload.sequence(),
                holding.fromReservation(),
                leavingBy));
    }

    /** The line for the workers that an elastic workload still misses. */
    private static Optional<Line.Key> growth(Workload workload, WorkloadState.Holding holding) {
        boolean wants = holding.phase().isStaying()
                && workload.nomination().isEmpty()
                && !workload.held()
                && holding.allocation().workers().size() < workload.shape().allWorkers();
        return wants ? Optional.of(Line.Key.growing(workload, holding.allocation())) : Optional.empty();
    }

    /** The numbers of an allocation's workers. */
    public static SortedSet<Integer> numbers(Allocation allocation) {
        SortedSet<Integer> numbers = new TreeSet<>();
        allocation.workers().forEach(worker -> numbers.add(worker.number()));
        return numbers;
    }
}
