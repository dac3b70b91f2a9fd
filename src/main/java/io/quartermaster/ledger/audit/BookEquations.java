package io.quartermaster.ledger.audit;

import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.GpuTime;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.StepFunction;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.UsageEvent;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;

/**
 * The equations that hold if the stored usage of a tenant is correct. One side takes its levels from the events, the
 * other from the segments, by code that shares nothing with {@link Book}. Both are compared at every instant, so the
 * integrals of every window agree too.
 */
public final class BookEquations {
    /** The rules, in the order in which they are checked. */
    public enum Rule {
        /** No event and no segment belongs to another tenant. */
        ONE_TENANT,
        /** Events come in order of (atMillis, seq), each once. */
        STREAM_IN_ORDER,
        /** An allocation is allocated once. */
        ALLOCATED_ONCE,
        /** An allocation is freed after it was allocated, and once. */
        FREED_ONCE,
        /** A phase is stated only while its allocation is held. */
        PHASE_WHILE_HELD,
        /** Two segments never have the same id, so a segment that is sent twice is billed once. */
        ONE_ID,
        /** No segment crosses a full hour, so the hours of a day add up to the day. */
        CUT_AT_HOURS,
        /** A segment has the pool and the marks of its allocation, so the groups of a tenant add up to the tenant. */
        MARKS,
        /** reserved + reserved-idle = the reserved amount. */
        RESERVED_IS_USED_OR_IDLE,
        /** reserved + on-demand = the held amount. */
        HELD_IS_RESERVED_OR_ON_DEMAND,
        /** reserved = the smaller of the reserved and the held amount: nothing is on-demand while something is idle. */
        RESERVED_FILLS_FIRST,
        /** within = the smaller of the policy's reserved amount and the amount held under it. */
        WITHIN_FILLS_FIRST,
        /** reserved-unmet = the amount that was not honoured. */
        UNMET_IS_STATED,
        /** The segments of an allocation leave no gap in its life and do not overlap in either division. */
        NO_GAP_NO_OVERLAP
    }

    /**
     * A violation of a rule.
     *
     * @param subject what violates the rule: a pool, a policy in a pool, an allocation, an id
     * @param atMillis the first instant of the violation
     * @param expected the correct value: thousandths of a GPU for levels, otherwise milliseconds or a count
     */
    public record Violation(Rule rule, String subject, long atMillis, long expected, long found) {
        @Override
        public String toString() {
            return rule + " at " + atMillis + " for " + subject + ": expected " + expected + ", found " + found;
        }
    }

    /**
     * Both sides of the equations for a pool, over the window.
     *
     * @param stated the reserved usage, by the events
     * @param held the held usage, by the events
     * @param totals the sums of the segments
     */
    public record PoolSums(PoolKey pool, GpuTime stated, GpuTime held, Usage.Totals totals) {}

    /** The result of a check of {@code [fromMillis, toMillis)}, with all violations. */
    public record Report(
            TenantKey tenant, long fromMillis, long toMillis, List<PoolSums> pools, List<Violation> violations) {
        public Report {
            pools = List.copyOf(pools);
            violations = List.copyOf(violations);
        }

        public boolean holds() {
            return violations.isEmpty();
        }
    }

    private final StatedLevels statedLevels;
    private final List<Segment> segments;
    private final long hourMillis;
    private final long fromMillis;
    private final long toMillis;
    private final List<Violation> violations;

    private BookEquations(
            StatedLevels statedLevels, List<Segment> segments, long hourMillis, long fromMillis, long toMillis) {
        this.statedLevels = statedLevels;
        this.segments = segments;
        this.hourMillis = hourMillis;
        this.fromMillis = fromMillis;
        this.toMillis = toMillis;
        this.violations = new ArrayList<>(statedLevels.violations);
    }

    /**
     * Checks a window {@code [fromMillis, toMillis)}.
     *
     * @param opening the state before the window: {@link BookState#empty} if {@code events} go back to the beginning,
     *     else the state of the last hour closed by {@code fromMillis}
     * @param events all events after the opening that concern the window, in order
     * @param segments all segments of the window, in any order; segments outside of it are ignored
     */
    public static Report check(
            BookState opening, List<UsageEvent> events, Collection<Segment> segments, long fromMillis, long toMillis) {
        if (opening.closedUntilMillis() > fromMillis || fromMillis > toMillis) {
            throw new IllegalArgumentException("the window [" + fromMillis + ", " + toMillis
                    + ") begins before the opening state, whose closed hours end at " + opening.closedUntilMillis());
        }
        StatedLevels statedLevels = new StatedLevels(opening);
        events.forEach(statedLevels::add);
        List<Segment> inWindow = segments.stream()
                .filter(segment -> Math.max(segment.fromMillis(), fromMillis) < Math.min(segment.toMillis(), toMillis))
                .sorted(Segment.ORDER)
                .toList();
        TenantKey tenant = opening.tenant();
        for (Segment segment : inWindow) {
            if (!segment.tenant().equals(tenant)) {
                statedLevels.violations.add(
                        violation(Rule.ONE_TENANT, segment.tenant().value(), segment.fromMillis(), 0, 1));
            }
        }
        List<Segment> own = inWindow.stream()
                .filter(segment -> segment.tenant().equals(tenant))
                .toList();
        return new BookEquations(statedLevels, own, opening.hourMillis(), fromMillis, toMillis).report(tenant);
    }

    static Violation violation(Rule rule, String subject, long atMillis, long expected, long found) {
        return new Violation(rule, subject, atMillis, expected, found);
    }

    private Report report(TenantKey tenant) {
        checkSegments();
        List<PoolSums> sums = checkPools();
        checkPolicies();
        checkAllocations();
        return new Report(tenant, fromMillis, toMillis, sums, violations);
    }

    private void checkSegments() {
        TreeSet<UUID> ids = new TreeSet<>();
        for (Segment segment : segments) {
            long at = segment.fromMillis();
            if (!ids.add(segment.id())) {
                violations.add(violation(Rule.ONE_ID, segment.id().toString(), at, 1, 2));
            }
            long hourEnd = at - at % hourMillis + hourMillis;
            if (segment.toMillis() > hourEnd) {
                violations.add(violation(Rule.CUT_AT_HOURS, segment.id().toString(), at, hourEnd, segment.toMillis()));
            }
            segment.held().ifPresent(held -> {
                StatedLevels.AllocationLife life = statedLevels.allocations.get(held.allocation());
                if (life == null
                        || !life.pool().equals(segment.pool())
                        || !life.marks().equals(held.marks())) {
                    violations.add(violation(Rule.MARKS, held.allocation().value(), at, 1, 0));
                }
            });
        }
    }

    private List<PoolSums> checkPools() {
        TreeMap<PoolKey, StepFunction> reserved = new TreeMap<>();
        TreeMap<PoolKey, StepFunction> onDemand = new TreeMap<>();
        TreeMap<PoolKey, StepFunction> idle = new TreeMap<>();
        TreeMap<PoolKey, StepFunction> unmet = new TreeMap<>();
        TreeMap<PoolKey, Usage.Totals> totals = new TreeMap<>();
        for (Segment segment : segments) {
            TreeMap<PoolKey, StepFunction> ofClass =
                    switch (segment.usageClass()) {
                        case RESERVED -> reserved;
                        case ON_DEMAND -> onDemand;
                        case RESERVED_IDLE -> idle;
                        case RESERVED_UNMET -> unmet;
                    };
            add(ofClass, segment.pool(), segment);
            totals.merge(segment.pool(), Usage.Totals.of(clipToWindow(segment)), Usage.Totals::plus);
        }
        TreeSet<PoolKey> pools = new TreeSet<>(totals.keySet());
        pools.addAll(statedLevels.reserved.keySet());
        pools.addAll(statedLevels.unmet.keySet());
        pools.addAll(statedLevels.held.keySet());
        List<PoolSums> sums = new ArrayList<>();
        for (PoolKey pool : pools) {
            StepFunction statedReserved = StatedLevels.levelOf(statedLevels.reserved, pool);
            StepFunction statedHeld = StatedLevels.levelOf(statedLevels.held, pool);
            StepFunction used = StatedLevels.levelOf(reserved, pool);
            String subject = pool.value();
            compare(
                    Rule.RESERVED_IS_USED_OR_IDLE,
                    subject,
                    statedReserved,
                    StepFunction.sum(used, StatedLevels.levelOf(idle, pool)));
            compare(
                    Rule.HELD_IS_RESERVED_OR_ON_DEMAND,
                    subject,
                    statedHeld,
                    StepFunction.sum(used, StatedLevels.levelOf(onDemand, pool)));
            compare(Rule.RESERVED_FILLS_FIRST, subject, StepFunction.min(statedReserved, statedHeld), used);
            compare(
                    Rule.UNMET_IS_STATED,
                    subject,
                    StatedLevels.levelOf(statedLevels.unmet, pool),
                    StatedLevels.levelOf(unmet, pool));
            sums.add(new PoolSums(
                    pool,
                    statedReserved.integral(fromMillis, toMillis),
                    statedHeld.integral(fromMillis, toMillis),
                    totals.getOrDefault(pool, Usage.Totals.ZERO)));
        }
        return sums;
    }

    private Segment clipToWindow(Segment segment) {
        return segment.between(Math.max(fromMillis, segment.fromMillis()), Math.min(toMillis, segment.toMillis()));
    }

    private void checkPolicies() {
        TreeMap<StatedLevels.PolicyInPool, StepFunction> within = new TreeMap<>();
        for (Segment segment : segments) {
            segment.held().filter(held -> held.standing() == Standing.WITHIN).ifPresent(held -> {
                add(
                        within,
                        new StatedLevels.PolicyInPool(
                                segment.pool(), held.marks().policy()),
                        segment);
            });
        }
        TreeSet<StatedLevels.PolicyInPool> policies = new TreeSet<>(within.keySet());
        policies.addAll(statedLevels.policyHeld.keySet());
        for (StatedLevels.PolicyInPool policy : policies) {
            StepFunction due = StepFunction.min(
                    StatedLevels.levelOf(statedLevels.policyReserved, policy),
                    StatedLevels.levelOf(statedLevels.policyHeld, policy));
            String subject = policy.policy() + " in " + policy.pool();
            compare(Rule.WITHIN_FILLS_FIRST, subject, due, StatedLevels.levelOf(within, policy));
        }
    }

    private void checkAllocations() {
        TreeMap<AllocationId, StepFunction> slices = new TreeMap<>();
        for (Segment segment : segments) {
            segment.held().ifPresent(held -> add(slices, held.allocation(), segment));
        }
        TreeSet<AllocationId> allocations = new TreeSet<>(slices.keySet());
        allocations.addAll(statedLevels.allocations.keySet());
        for (AllocationId allocation : allocations) {
            StepFunction life = Optional.ofNullable(statedLevels.allocations.get(allocation))
                    .map(StatedLevels.AllocationLife::held)
                    .orElseGet(StepFunction::new);
            compare(Rule.NO_GAP_NO_OVERLAP, allocation.value(), life, StatedLevels.levelOf(slices, allocation));
        }
    }

    private static <K> void add(TreeMap<K, StepFunction> stepFunction, K key, Segment segment) {
        StatedLevels.levelOf(stepFunction, key).add(segment.fromMillis(), segment.toMillis(), segment.gpuMilli());
    }

    private void compare(Rule rule, String subject, StepFunction expected, StepFunction found) {
        StepFunction.firstDifference(expected, found, fromMillis, toMillis)
                .map(at -> violation(rule, subject, at.atMillis(), at.left(), at.right()))
                .ifPresent(violations::add);
    }
}
