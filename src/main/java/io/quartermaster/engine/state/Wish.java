package io.quartermaster.engine.state;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Workload;

import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.preemption.Runners;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.preemption.Claimant;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.Meter;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/** What everybody in a line asks of one pool: of its quotas and, as long as it is known alike for all, of its devices. */
public final class Wish {
    private final Space space;
    private final Ask ask;
    private final Optional<Kind> kind;
    private final int kindNumber;
    private final Runners ofGroup;
    private final LongPredicate openIn;
    private final List<Meter> meters;
    private @Nullable Boolean possible;
    private @Nullable Boolean onlyForClosedNodes;

    /**
     * @param kind absent where the places asked for depend on who asks
     * @param ofGroup who runs in the pool of the same group
     * @param openIn whether it could start there after so many milliseconds; asked anew, since work may join before the time of a plan is
     *     known
     * @param meters the budgets that it would count against
     */
    Wish(Space space, Ask ask, Optional<Kind> kind, Runners ofGroup, LongPredicate openIn, List<Meter> meters) {
        this.meters = meters;
        this.openIn = openIn;
        this.space = space;
        this.ask = ask;
        this.kind = kind;
        this.kindNumber = kind.map(Kind::number).orElse(-1);
        this.ofGroup = ofGroup;
    }

    /** The same for another amount, of which nothing is known yet. */
    public Wish with(Ask other) {
        return new Wish(space, other, Optional.empty(), ofGroup, openIn, meters);
    }

    public Space space() {
        return space;
    }

    /** Whether the pool is open to it. */
    public boolean isOpen() {
        return openIn.test(0);
    }

    /** The first budget of which too little is left for it. */
    public Optional<Meter> usedUp() {
        for (Meter meter : meters) {
            if (!meter.allows(ask.gpuMilli(), ask.preemptible(), ask.runtimeMillis())) {
                return Optional.of(meter);
            }
        }
        return Optional.empty();
    }

    /** Whether neither the pool's hours nor a budget is in the way. */
    public boolean mayStart() {
        return isOpen() && (meters.isEmpty() || usedUp().isEmpty());
    }

    /** Whether neither is in the way after so many milliseconds, as far as that is known now. */
    public boolean mayStartIn(long millis) {
        if (!openIn.test(millis)) {
            return false;
        }
        for (Meter meter : meters) {
            if (!meter.allowsIn(millis, ask.gpuMilli(), ask.preemptible(), ask.runtimeMillis())) {
                return false;
            }
        }
        return true;
    }

    /** The budgets that it would count against. */
    public List<Meter> meters() {
        return meters;
    }

    public PoolId pool() {
        return space.pool().id();
    }

    public Ask ask() {
        return ask;
    }

    public Optional<Kind> kind() {
        return kind;
    }

    /** The kind's number; negative where it has none. */
    public int kindNumber() {
        return kindNumber;
    }

    public Runners ofGroup() {
        return ofGroup;
    }

    /** As one who needs room made. */
    public Claimant claimant(Workload head, Request request, Claimant.Means means) {
        return new Claimant(head.id(), head.path(), head.user(), head.priority(), space, ask, request, means);
    }

    /** Whether the pool could take it with every known node up and empty. */
    boolean couldEver(Request request) {
        Boolean known = possible;
        if (known == null) {
            known = space.couldEver(request);
            possible = known;
        }
        return known;
    }

    /** Whether nodes that could take it are known, and all of them are closed to new work of its tenant. */
    boolean isOnlyForClosedNodes(Request request) {
        Boolean known = onlyForClosedNodes;
        if (known == null) {
            known = space.isOnlyForClosedNodes(request);
            onlyForClosedNodes = known;
        }
        return known;
    }
}
