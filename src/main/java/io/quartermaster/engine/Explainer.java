package io.quartermaster.engine;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
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
    private final Wishes wishes;

    Explainer(Facts facts, Books books) {
        this.facts = facts;
        this.wishes = new Wishes(facts, books);
    }

    /** The reasons of all in a line, per pool in its order. */
    List<Reason> reasons(Line line) {
        List<Reason> reasons = new ArrayList<>();
        for (PoolId pool : line.key().pools()) {
            Optional<Space> space = wishes.space(pool);
            reasons.add(space.isPresent() ? reason(line, space.get()) : unknown(line, pool));
        }
        return reasons;
    }

    private static Reason unknown(Line line, PoolId pool) {
        Reason.Numbers numbers = new Reason.Numbers(0, 0, OptionalLong.empty(), 0);
        return new Reason(
                Reason.Code.NO_SUCH_NODE,
                pool,
                Optional.empty(),
                numbers,
                "There is no pool " + pool + ".",
                "The pool is set up, or the profile names another one than " + pool + ".");
    }

    private Reason reason(Line line, Space space) {
        Pool pool = space.pool();
        Request request = wishes.request(line);
        Ask ask = wishes.ask(line, space);
        long free = space.freeGpuMilli(Horizon.AT_ONCE);
        Said said = new Said(pool.id(), ask.gpuMilli(), free, usedIn(space));
        Optional<Reason> standing = standing(line, said);
        if (standing.isPresent()) {
            return standing.get();
        }
        if (!wishes.couldEver(line, space)) {
            return said.noSuchNode(request.workers());
        }
        Optional<Admission.Hit> hit = Admission.atOnce(ask);
        if (hit.isPresent() && hit.get().bound() != Admission.Bound.CAPACITY) {
            return said.bound(hit.get());
        }
        boolean wouldFit = Admission.ignoringPromises(ask).isEmpty()
                && space.place(request, Horizon.IGNORING_PROMISES).isPresent();
        if (wouldFit) {
            return said.behind(space.freeGpuMilli(Horizon.IGNORING_PROMISES));
        }
        return free < ask.gpuMilli() ? said.noCapacity() : said.fragmented(request.workers());
    }

    private Optional<Reason> standing(Line line, Said said) {
        Change.Standing standing = facts.standing(line.key().path());
        Pool pool = facts.pools().get(said.pool());
        return switch (standing) {
            case SUSPENDED ->
                Optional.of(said.suspended(facts.suspended(line.key().path())));
            case BUDGET_USED_UP ->
                Optional.of(
                        pool != null && !pool.open()
                                ? said.closed()
                                : said.budget(line.key().path()));
            case GOOD -> pool != null && !pool.open() ? Optional.of(said.closed()) : Optional.empty();
        };
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
        return new Said(place.pool(), place.gpuMilli(), free, used).nominated();
    }
}
