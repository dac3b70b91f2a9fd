package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;
import io.quartermaster.engine.state.Prospects;
import io.quartermaster.engine.state.StrictQueue;
import io.quartermaster.engine.state.Wish;
import io.quartermaster.engine.state.Wishes;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Says why work waits, after a plan. Names no path but the workload's own: what other tenants do shows only as numbers
 * of the pool.
 */
final class Explainer {
    private final Facts facts;
    private final Books books;
    private final Wishes wishes;

    Explainer(Facts facts, Books books) {
        this.books = books;
        this.facts = facts;
        this.wishes = new Wishes(facts, books);
    }

    /** What is in a line's way in one pool, without words and numbers. */
    private record Finding(
            Reason.Code code,
            Optional<QuotaPath> path,
            Optional<Scope> scope,
            Optional<Admission.Hit> hit,
            OptionalLong opensAtMillis) {

        static Finding of(Reason.Code code) {
            return new Finding(code, Optional.empty(), Optional.empty(), Optional.empty(), OptionalLong.empty());
        }

        static Finding of(Reason.Code code, QuotaPath path) {
            return new Finding(code, Optional.of(path), Optional.empty(), Optional.empty(), OptionalLong.empty());
        }

        static Finding of(Admission.Hit hit) {
            return new Finding(
                    ReasonTexts.code(hit),
                    ReasonTexts.path(hit),
                    Optional.empty(),
                    Optional.of(hit),
                    OptionalLong.empty());
        }

        static Finding closedUntil(QuotaNode node, long opensAtMillis) {
            return new Finding(
                    Reason.Code.CLOSED,
                    Optional.of(node.path()),
                    Optional.of(node.tree().scope()),
                    Optional.empty(),
                    OptionalLong.of(opensAtMillis));
        }
    }

    /** Whether it waits for others of its queue. */
    private enum Turn {
        ITS_OWN,
        OF_THOSE_BEFORE_IT
    }

    /** Where it is the head's turn in a queue of strict order, what holds for the others. */
    private static Turn turn(Line line) {
        return line.queue().isPresent() ? Turn.OF_THOSE_BEFORE_IT : Turn.ITS_OWN;
    }

    /** The reasons of all in a line, per pool in its order; but not of one whose turn it is in a queue of strict order. */
    List<Reason> reasons(Line line) {
        return reasons(line, turn(line));
    }

    /** The reasons of a line's head whose turn it is in a queue of strict order. */
    List<Reason> reasonsOfFirst(Line line) {
        return reasons(line, Turn.ITS_OWN);
    }

    private List<Reason> reasons(Line line, Turn turn) {
        List<Wish> wishes = this.wishes.of(line);
        List<Reason> reasons = new ArrayList<>();
        int next = 0;
        for (PoolId pool : line.key().pools()) {
            boolean known = next < wishes.size() && wishes.get(next).pool().equals(pool);
            reasons.add(
                    known
                            ? reason(line, wishes.get(next++), turn)
                            : ReasonTexts.unknownPool(pool, hasOtherPools(line.key())));
        }
        return reasons;
    }

    /** Whether its group has a quota in a pool that work of this kind does not use and that runs work. */
    private boolean hasOtherPools(Line.Key key) {
        for (Space space : books.cluster().spaces()) {
            Pool pool = space.pool();
            if (!key.pools().contains(pool.id())
                    && pool.hasExecutor()
                    && books.cluster()
                            .bindingLeaves(pool.id(), key.path())
                            .getFirst()
                            .named()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the first of its queue is first for no more than its place or its submission. */
    private static boolean wouldAPlaceHelp(Line line) {
        return line.queue()
                .flatMap(StrictQueue::first)
                .filter(first -> first.priority() == line.key().priority() && !Line.isAtHead(first))
                .isPresent();
    }

    /** Whether the reasons would be of the same kinds as others. */
    boolean sameKinds(Line line, List<Reason> others) {
        List<Wish> wishes = this.wishes.of(line);
        if (others.size() != line.key().pools().size() || wishes.size() != others.size()) {
            return false;
        }
        for (int i = 0; i < others.size(); i++) {
            Finding finding = find(line, wishes.get(i), turn(line));
            Reason other = others.get(i);
            if (finding.code() != other.code() || !finding.path().equals(other.path())) {
                return false;
            }
        }
        return true;
    }

    private Finding find(Line line, Wish wish, Turn turn) {
        QuotaPath path = line.key().path();
        Change.Standing standing = facts.standing(path);
        if (standing == Change.Standing.SUSPENDED) {
            return Finding.of(Reason.Code.SUSPENDED, facts.suspended(path));
        }
        if (!wish.space().pool().hasExecutor()) {
            return Finding.of(Reason.Code.NO_EXECUTOR);
        }
        return ofHours(wish)
                .or(() -> ofBudgets(path, standing, wish))
                .or(() -> ofNodes(line, wish))
                .or(() -> ofQuotas(wish.ask()))
                .orElseGet(() -> ofRoom(line, wish, turn));
    }

    /** Of the pool, or of a capacity reservation. */
    private static Optional<Finding> ofHours(Wish wish) {
        if (!wish.isOpen()) {
            return Optional.of(Finding.of(Reason.Code.CLOSED));
        }
        long gpuMilli = wish.ask().gpuMilli();
        return wish.ask().path().stream()
                .filter(node -> node.fitsFromMillis(gpuMilli).isPresent())
                .findFirst()
                .map(node ->
                        Finding.closedUntil(node, node.fitsFromMillis(gpuMilli).getAsLong()));
    }

    private static Optional<Finding> ofBudgets(QuotaPath path, Change.Standing standing, Wish wish) {
        return standing == Change.Standing.BUDGET_USED_UP
                ? Optional.of(Finding.of(Reason.Code.BUDGET, path))
                : wish.usedUp().map(meter -> Finding.of(Reason.Code.BUDGET, meter.path()));
    }

    private Optional<Finding> ofNodes(Line line, Wish wish) {
        if (!wishes.couldEverStart(line, wish)) {
            return Optional.of(Finding.of(Reason.Code.NO_SUCH_NODE));
        }
        return wishes.isOnlyForClosedNodes(line, wish)
                ? Optional.of(Finding.of(Reason.Code.NODES_CLOSED))
                : Optional.empty();
    }

    private static Optional<Finding> ofQuotas(Ask ask) {
        return Admission.firstAtOnce(ask)
                .filter(hit -> hit.bound() != Admission.Bound.CAPACITY)
                .map(Finding::of);
    }

    /** Of the room that there is, once nothing else is in the way. */
    private Finding ofRoom(Line line, Wish wish, Turn turn) {
        Ask ask = wish.ask();
        if (turn == Turn.OF_THOSE_BEFORE_IT) {
            return Finding.of(Reason.Code.BEHIND);
        }
        boolean wouldFit = Admission.ignoringPromises(ask).isEmpty() && fitsIgnoringPromises(line, wish);
        if (wouldFit) {
            return Finding.of(Reason.Code.BEHIND);
        }
        if (Admission.atOnce(ask).isEmpty() && wouldFitIfNodesWereOpen(line, wish)) {
            return Finding.of(Reason.Code.NODES_CLOSED);
        }
        boolean tooFew = free(line, wish.space(), Horizon.AT_ONCE) < ask.gpuMilli();
        return Finding.of(tooFew ? Reason.Code.NO_CAPACITY : Reason.Code.FRAGMENTED);
    }

    /** What is free where it may be: in the pool, or on the one node that it may start on. */
    private static long free(Line line, Space space, Horizon horizon) {
        return line.key()
                .only()
                .map(node -> space.freeGpuMilli(node, horizon))
                .orElseGet(() -> space.freeGpuMilli(horizon));
    }

    /** How many GPUs of which nobody holds a part are free, for a line that asks for whole ones and may use any node. */
    private static OptionalLong wholeFree(Line line, Space space) {
        boolean whole = line.key().only().isEmpty()
                && line.key().shape().isPlain()
                && line.key().shape().gpus() instanceof GpuRequest.Whole;
        return whole ? OptionalLong.of(space.untouchedGpus(Horizon.AT_ONCE)) : OptionalLong.empty();
    }

    private Optional<String> unmetNeed(Line line, Space space) {
        return line.key().only().isPresent() ? Optional.empty() : space.unmetNeed(wishes.request(line));
    }

    private boolean wouldFitIfNodesWereOpen(Line line, Wish wish) {
        return wish.kind().isPresent()
                ? wish.kind().get().wouldFitIfNodesWereOpen()
                : wish.space().wouldFitIfNodesWereOpen(wishes.request(line));
    }

    private boolean fitsIgnoringPromises(Line line, Wish wish) {
        return wish.kind().isPresent()
                ? wish.kind().get().fitsIgnoringPromises()
                : wish.space()
                        .place(wishes.request(line), Horizon.IGNORING_PROMISES)
                        .isPresent();
    }

    private ReasonTexts.Room room(Line line, Wish wish) {
        if (wish.space().fitsOnceEmpty(wishes.request(line))) {
            return ReasonTexts.Room.WHEN_WORK_ENDS;
        }
        return wishes.couldEver(line, wish)
                ? ReasonTexts.Room.WHEN_NODES_ARE_BACK
                : ReasonTexts.Room.WHEN_THERE_IS_MORE;
    }

    private Reason reason(Line line, Wish wish, Turn turn) {
        Space space = wish.space();
        Finding finding = find(line, wish, turn);
        ReasonTexts texts = new ReasonTexts(
                wish.pool(),
                wish.ask().gpuMilli(),
                free(line, space, Horizon.AT_ONCE),
                wholeFree(line, space),
                usedIn(space),
                line.key().only().isPresent() ? ReasonTexts.Where.ITS_OWN_NODE : ReasonTexts.Where.ANYWHERE,
                hasOtherPools(line.key()));
        return switch (finding.code()) {
            case SUSPENDED -> texts.suspended(finding.path().orElseThrow());
            case NO_EXECUTOR -> texts.noExecutor();
            case CLOSED ->
                finding.path()
                        .map(path -> texts.closedTo(
                                path,
                                finding.scope().orElseThrow(),
                                finding.opensAtMillis().orElseThrow()))
                        .orElseGet(() -> closed(texts, line, wish));
            case BUDGET ->
                texts.budget(
                        finding.path().orElseThrow(),
                        wish.usedUp().filter(Meter::isLeft).isPresent());
            case NO_SUCH_NODE -> texts.noSuchNode(line.workersOfHead(), unmetNeed(line, space));
            case NODES_CLOSED -> texts.nodesClosed();
            case BEHIND ->
                turn == Turn.OF_THOSE_BEFORE_IT
                        ? texts.notItsTurn(wouldAPlaceHelp(line))
                        : texts.behind(free(line, space, Horizon.IGNORING_PROMISES));
            case NO_CAPACITY -> texts.noCapacity(room(line, wish));
            case FRAGMENTED -> texts.fragmented(line.workersOfHead(), room(line, wish));
            case LIMIT, OVER_QUOTA_OFF, NOT_PREEMPTIBLE, HELD_FOR_OTHERS ->
                texts.bound(finding.hit().orElseThrow(), books.mayEver(wish.ask()));
            case NOMINATED -> texts.nominated();
        };
    }

    private Reason closed(ReasonTexts texts, Line line, Wish wish) {
        Pool pool = wish.space().pool();
        if (Prospects.isNeverOpenLongEnough(line, wish)) {
            return texts.neverOpenLongEnough(line.key().maxRuntimeMillis().isPresent());
        }
        OptionalLong turn = books.turnOf(pool.id());
        return pool.open() && turn.isPresent() ? texts.closes(turn.getAsLong()) : texts.closed(turn);
    }

    private static long usedIn(Space space) {
        return Math.max(0, space.capacityGpuMilli() - space.freeGpuMilli(Horizon.IGNORING_PROMISES));
    }

    /** The reason of one for whom a place is kept. */
    Reason nominated(Workload workload) {
        Allocation place = workload.nomination().orElseThrow();
        Optional<Space> space = wishes.space(place.pool());
        long free = space.map(known -> known.freeGpuMilli(Horizon.AT_ONCE)).orElse(0L);
        long used = space.map(Explainer::usedIn).orElse(0L);
        return new ReasonTexts(
                        place.pool(),
                        place.gpuMilli(),
                        free,
                        OptionalLong.empty(),
                        used,
                        ReasonTexts.Where.ANYWHERE,
                        false)
                .nominated();
    }
}
