package io.quartermaster.ledger;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/** Converts an account to plain values and back, and checks that the values agree with each other. */
final class PoolAccountStates {
    private PoolAccountStates() {}

    static BookState.PoolState state(PoolAccount account) {
        return new BookState.PoolState(
                account.pool,
                levels(account.tenantFill.reserved),
                levels(account.idle),
                levels(account.unmet),
                account.policyFills.entrySet().stream()
                        .filter(policy -> !policy.getValue().reserved.isEmpty())
                        .map(policy -> new BookState.PolicyState(policy.getKey(), levels(policy.getValue().reserved)))
                        .toList(),
                account.holdings().stream()
                        .map(PoolAccountStates::state)
                        .sorted(Comparator.comparing(BookState.AllocationState::allocation))
                        .toList());
    }

    private static BookState.AllocationState state(Holding holding) {
        return new BookState.AllocationState(
                holding.allocation,
                holding.gpuMilli,
                holding.startMillis,
                holding.isLive() ? OptionalLong.empty() : OptionalLong.of(holding.freedMillis()),
                holding.marks,
                holding.fills.entries().stream()
                        .map(entry -> new BookState.FillState(
                                entry.fromMillis(),
                                entry.value().reservedGpuMilli(),
                                entry.value().withinGpuMilli()))
                        .toList(),
                holding.phases.entries().stream()
                        .map(entry -> new BookState.PhaseState(entry.fromMillis(), entry.value()))
                        .toList());
    }

    private static List<BookState.Level> levels(Timeline<Long> timeline) {
        return timeline.entries().stream()
                .map(entry -> new BookState.Level(entry.fromMillis(), entry.value()))
                .toList();
    }

    static PoolAccount account(BookState.PoolState state) {
        PoolAccount account = new PoolAccount(state.pool());
        restoreLevels(account.tenantFill, state.reserved());
        for (BookState.PolicyState policy : state.policies()) {
            restoreLevels(account.policyFill(policy.policy()), policy.reserved());
        }
        state.idle().forEach(level -> account.idle.set(level.fromMillis(), level.gpuMilli()));
        state.unmet().forEach(level -> account.unmet.set(level.fromMillis(), level.gpuMilli()));
        for (BookState.AllocationState allocation : state.allocations()) {
            account.addRestored(holding(state.pool(), allocation));
        }
        requireAgreement(account);
        return account;
    }

    private static void restoreLevels(ReservationFill reservationFill, List<BookState.Level> levels) {
        levels.forEach(level -> reservationFill.setReserved(level.fromMillis(), level.gpuMilli(), new ArrayList<>()));
    }

    private static Holding holding(PoolKey pool, BookState.AllocationState state) {
        Holding holding = new Holding(state.allocation(), pool, state.gpuMilli(), state.startMillis(), state.marks());
        for (BookState.FillState fill : state.fills()) {
            holding.fills.set(fill.fromMillis(), new Holding.Fill(fill.reservedGpuMilli(), fill.withinGpuMilli()));
        }
        state.phases().forEach(phase -> holding.phases.set(phase.fromMillis(), phase.phase()));
        state.freedMillis().ifPresent(holding::free);
        return holding;
    }

    /** Checks that the fills follow from the levels and the allocations. If they do not, the state was modified. */
    private static void requireAgreement(PoolAccount account) {
        for (Holding holding : account.holdings()) {
            boolean known = !holding.fills.isEmpty() && !holding.phases.isEmpty();
            if (!known || (holding.isLive() && !holding.fills.last().equals(account.fillOf(holding)))) {
                throw new IllegalArgumentException("the state of pool " + account.pool
                        + " contradicts itself at allocation " + holding.allocation);
            }
        }
        long idleGpuMilli = account.idle.isEmpty() ? 0 : account.idle.last();
        if (idleGpuMilli != account.tenantFill.idleGpuMilli()) {
            throw new IllegalArgumentException("the state of pool " + account.pool + " contradicts itself: "
                    + idleGpuMilli + " idle, and " + account.tenantFill.idleGpuMilli() + " by its allocations");
        }
    }
}
