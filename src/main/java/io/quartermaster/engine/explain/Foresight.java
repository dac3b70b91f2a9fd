package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.plan.Endings;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Prospects;
import io.quartermaster.engine.state.StrictQueue;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.preemption.Claimant;
import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ceiling;
import io.quartermaster.engine.quota.When;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;

/** Works out the outlook of one waiting workload. Tries things in the books and leaves them as they were. */
public final class Foresight {
    private final Facts facts;
    private final Books books;
    private final Wishes wishes;
    private final RoomMaker roomMaker;
    private final Function<PoolId, List<Outlook.Relief>> remedies;
    private final long nowMillis;

    /** @param remedies finds, for one pool, the changes that are sufficient for the workload to start */
    public Foresight(
            Facts facts,
            Books books,
            RoomMaker roomMaker,
            Function<PoolId, List<Outlook.Relief>> remedies,
            long nowMillis) {
        this.remedies = remedies;
        this.roomMaker = roomMaker;
        this.facts = facts;
        this.books = books;
        this.wishes = new Wishes(facts, books);
        this.nowMillis = nowMillis;
    }

    public Outlook of(Workload workload, Line line, List<Reason> reasons) {
        List<Outlook.InPool> perPool = new ArrayList<>();
        for (Reason reason : reasons) {
            perPool.add(inPool(workload, line, reason));
        }
        Optional<WorkloadId> first =
                line.queue().flatMap(StrictQueue::first).map(Workload::id).filter(id -> !id.equals(workload.id()));
        return new Outlook(workload.id(), position(workload), first, perPool);
    }

    private int position(Workload workload) {
        int before = 0;
        for (Line line : books.lines()) {
            if (line.key().path().equals(workload.path()) && !line.surplus()) {
                int byPriority = Integer.compare(line.key().priority(), workload.priority());
                if (byPriority > 0) {
                    before += line.members().size();
                } else if (byPriority == 0) {
                    before += line.members().before(workload);
                }
            }
        }
        return before;
    }

    private Outlook.InPool inPool(Workload workload, Line line, Reason reason) {
        Optional<Space> space = wishes.space(reason.pool());
        boolean itsTurn = line.queue().isEmpty() || line.firstInQueue() == workload;
        boolean room = itsTurn && isRoom(reason);
        Optional<Admission.Hit> cap = cap(line, reason);
        return new Outlook.InPool(
                reason.pool(),
                reason.code(),
                cap.map(hit -> holders(workload, hit)).orElseGet(() -> holders(workload, reason)),
                couldLeavingHelp(reason) ? heldByOthers(workload, reason.pool()) : 0,
                remedies.apply(reason.pool()),
                room && space.isPresent() ? startsWhenOpen(line, space.get()) : OptionalLong.empty(),
                space.isPresent() ? preemptsFrom(workload, reason, space.get().pool()) : OptionalLong.empty(),
                itsTurn && isCurable(reason) ? fence(workload, line, reason) : Optional.empty());
    }

    /** Until then a pool that waits before preempting stops nothing for it; empty where that is over, or nobody is in its way. */
    private OptionalLong preemptsFrom(Workload workload, Reason reason, Pool pool) {
        long from = workload.waitsSinceMillis() + pool.waitBeforePreemptingMillis();
        boolean waits = pool.waitBeforePreemptingMillis() > 0 && from > nowMillis;
        return waits && isCurable(reason) ? OptionalLong.of(from) : OptionalLong.empty();
    }

    /** The fence without which something could be taken back for it. */
    private Optional<QuotaPath> fence(Workload workload, Line line, Reason reason) {
        for (Wish wish : wishes.of(line)) {
            if (wish.pool().equals(reason.pool()) && wishes.couldEver(line, wish)) {
                return roomMaker.fenceInTheWay(wish.claimant(workload, wishes.request(line), Claimant.Means.STOPPING));
            }
        }
        return Optional.empty();
    }

    /** Whether stopping others could help. */
    private static boolean isCurable(Reason reason) {
        return switch (reason.code()) {
            case LIMIT, OVER_QUOTA_OFF, HELD_FOR_OTHERS, BEHIND, NO_CAPACITY, FRAGMENTED -> true;
            case NOT_PREEMPTIBLE, NODES_CLOSED, NO_SUCH_NODE, NOMINATED, BUDGET, CLOSED, NO_EXECUTOR, SUSPENDED ->
                false;
        };
    }

    private static boolean isRoom(Reason reason) {
        return reason.code() == Reason.Code.NO_CAPACITY
                || reason.code() == Reason.Code.FRAGMENTED
                || reason.code() == Reason.Code.BEHIND
                || reason.code() == Reason.Code.NODES_CLOSED;
    }

    /** Whether it would be nearer to its start if others left. */
    private static boolean couldLeavingHelp(Reason reason) {
        return reason.code() != Reason.Code.NO_SUCH_NODE && reason.code() != Reason.Code.NO_EXECUTOR;
    }

    /** Of its tenant: those under the path whose bound is in the way, or all in the pool; none where it would not help if they left. */
    private List<WorkloadId> holders(Workload workload, Reason reason) {
        if (!couldLeavingHelp(reason)) {
            return List.of();
        }
        QuotaPath within = reason.path().orElse(QuotaPath.of(workload.path().tenant()));
        List<Workload> holders = new ArrayList<>();
        for (Workload other : facts.workloads()) {
            if (within.covers(other.path()) && heldIn(other, reason.pool()) > 0) {
                holders.add(other);
            }
        }
        return largest(holders, other -> heldIn(other, reason.pool()));
    }

    private static List<WorkloadId> largest(List<Workload> holders, ToLongFunction<Workload> held) {
        holders.sort(Comparator.comparingLong((Workload other) -> -held.applyAsLong(other))
                .thenComparing(Workload::id));
        return holders.stream().limit(Outlook.MOST_HOLDERS).map(Workload::id).toList();
    }

    /** The cap beside the quotas that is in the way, if it is one. */
    private Optional<Admission.Hit> cap(Line line, Reason reason) {
        return reason.code() != Reason.Code.LIMIT
                ? Optional.empty()
                : wishes.of(line).stream()
                        .filter(wish -> wish.pool().equals(reason.pool()))
                        .findFirst()
                        .flatMap(wish -> Admission.atOnce(wish.ask()))
                        .filter(hit -> hit.ceiling().isPresent());
    }

    /** Those that count against a cap. */
    private List<WorkloadId> holders(Workload workload, Admission.Hit hit) {
        Ceiling cap = hit.ceiling().orElseThrow();
        List<Workload> holders = new ArrayList<>();
        for (Workload other : facts.workloads()) {
            boolean counts = cap.user().isEmpty() || other.user().equals(workload.user());
            if (counts && cap.path().covers(other.path()) && other.state() instanceof WorkloadState.Holding) {
                holders.add(other);
            }
        }
        return largest(holders, Foresight::held);
    }

    private long heldByOthers(Workload workload, PoolId pool) {
        long held = 0;
        for (Workload other : facts.workloads()) {
            held += other.path().tenant().equals(workload.path().tenant()) ? 0 : heldIn(other, pool);
        }
        return held;
    }

    private static long heldIn(Workload workload, PoolId pool) {
        return workload.state() instanceof WorkloadState.Holding holding
                        && holding.allocation().pool().equals(pool)
                ? holding.allocation().gpuMilli()
                : 0;
    }

    private static long held(Workload workload) {
        return workload.state() instanceof WorkloadState.Holding holding
                ? holding.allocation().gpuMilli()
                : 0;
    }

    /** When it fits and the pool is open to it; never where no opening is long enough. */
    private OptionalLong startsWhenOpen(Line line, Space space) {
        OptionalLong fits = startsAt(line, space);
        Optional<Hours> hours = space.pool().hours();
        if (fits.isEmpty() || hours.isEmpty()) {
            return fits;
        }
        return line.surplus()
                ? hours.get().opensFor(fits.getAsLong(), 1)
                : Prospects.opensAt(
                        hours.get(),
                        fits.getAsLong(),
                        line.key().preemptible(),
                        line.key().maxRuntimeMillis());
    }

    /** When it fits at the latest, once those before it in time have ended. */
    private OptionalLong startsAt(Line line, Space space) {
        Request request = wishes.request(line);
        Endings endings = Endings.of(facts, space.pool().id(), nowMillis);
        List<Endings.Ending> gone = new ArrayList<>();
        Optional<Allocation> place = space.place(request, Horizon.LATER);
        long at = endings.lastLeavesMillis();
        for (Endings.Ending ending : endings.inOrder()) {
            if (place.isPresent() || ending.atMillis() == Endings.NEVER) {
                break;
            }
            space.remove(ending.tenure(), When.NEXT);
            gone.add(ending);
            at = Math.max(at, ending.atMillis());
            place = space.freeGpuMilli(Horizon.LATER) >= request.leastGpuMilli()
                    ? space.place(request, Horizon.LATER)
                    : Optional.empty();
        }
        gone.reversed().forEach(ending -> space.add(ending.tenure(), When.NEXT));
        boolean someSayIt = !gone.isEmpty() || at > nowMillis;
        return place.isPresent() && someSayIt ? OptionalLong.of(at) : OptionalLong.empty();
    }
}
