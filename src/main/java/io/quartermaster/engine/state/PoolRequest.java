package io.quartermaster.engine.state;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.placement.PlacementRequest;
import io.quartermaster.engine.placement.PoolCapacity;
import io.quartermaster.engine.placement.RequestSignature;
import io.quartermaster.engine.preemption.CandidatesOfGroup;
import io.quartermaster.engine.preemption.Preemptor;
import io.quartermaster.engine.quota.BudgetMeter;
import io.quartermaster.engine.quota.QuotaRequest;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * The request that every member of a scheduling class makes in one pool: to its quotas and, where it is the same for
 * all members, to its devices.
 */
public final class PoolRequest {
    private final PoolCapacity poolCapacity;
    private final QuotaRequest quotaRequest;
    private final Optional<RequestSignature> signature;
    private final Optional<FailedAttempts> failedAttempts;
    private final int signatureNumber;
    private final CandidatesOfGroup ofGroup;
    private final LongPredicate isOpenAfter;
    private final List<BudgetMeter> budgetMeters;
    private @Nullable Boolean possible;
    private @Nullable Boolean onlyForClosedNodes;

    /**
     * @param requestSignature absent if the devices depend on the member
     * @param failedAttempts absent if a failed attempt may succeed the next time
     * @param ofGroup the running work of the same group in the pool
     * @param openIn whether it could start in the pool after so many milliseconds; evaluated on each call, since work
     * may join before the time of a plan is known
     * @param budgetMeters the budgets that it would count against
     */
    PoolRequest(
            PoolCapacity poolCapacity,
            QuotaRequest quotaRequest,
            Optional<RequestSignature> requestSignature,
            Optional<FailedAttempts> failedAttempts,
            CandidatesOfGroup ofGroup,
            LongPredicate openIn,
            List<BudgetMeter> budgetMeters) {
        this.budgetMeters = budgetMeters;
        this.isOpenAfter = openIn;
        this.poolCapacity = poolCapacity;
        this.quotaRequest = quotaRequest;
        this.signature = requestSignature;
        this.failedAttempts = failedAttempts;
        this.signatureNumber = requestSignature.map(RequestSignature::number).orElse(-1);
        this.ofGroup = ofGroup;
    }

    /** This request with another quota request, without any cached knowledge. */
    public PoolRequest with(QuotaRequest other) {
        return new PoolRequest(
                poolCapacity, other, Optional.empty(), Optional.empty(), ofGroup, isOpenAfter, budgetMeters);
    }

    public PoolCapacity poolCapacity() {
        return poolCapacity;
    }

    /** Whether the pool is open for it. */
    public boolean isOpen() {
        return isOpenAfter.test(0);
    }

    /** The first budget that has too little left for it. */
    public Optional<BudgetMeter> exhaustedBudget() {
        for (BudgetMeter budgetMeter : budgetMeters) {
            if (!budgetMeter.allows(
                    quotaRequest.gpuMilli(), quotaRequest.preemptible(), quotaRequest.runtimeMillis())) {
                return Optional.of(budgetMeter);
            }
        }
        return Optional.empty();
    }

    /** Whether both the pool's opening hours and the budgets permit it. */
    public boolean isOpenAndFunded() {
        return isOpen() && (budgetMeters.isEmpty() || exhaustedBudget().isEmpty());
    }

    /** Whether both permit it after so many milliseconds, as far as is known now. */
    public boolean mayStartIn(long millis) {
        if (!isOpenAfter.test(millis)) {
            return false;
        }
        for (BudgetMeter budgetMeter : budgetMeters) {
            if (!budgetMeter.allowsAfter(
                    millis, quotaRequest.gpuMilli(), quotaRequest.preemptible(), quotaRequest.runtimeMillis())) {
                return false;
            }
        }
        return true;
    }

    /** The budgets that it would count against. */
    public List<BudgetMeter> meters() {
        return budgetMeters;
    }

    public PoolId pool() {
        return poolCapacity.pool().id();
    }

    public QuotaRequest quotaRequest() {
        return quotaRequest;
    }

    public Optional<RequestSignature> signature() {
        return signature;
    }

    /** The attempts that are known to fail; empty if a failed attempt may succeed the next time. */
    public Optional<FailedAttempts> failedAttempts() {
        return failedAttempts;
    }

    /** The number of the signature; negative if there is none. */
    public int signatureNumber() {
        return signatureNumber;
    }

    public CandidatesOfGroup ofGroup() {
        return ofGroup;
    }

    /** The head of the class as a preemptor in this pool. */
    public Preemptor preemptor(
            Workload head, PlacementRequest placementRequest, Preemptor.AllowedActions allowedActions) {
        return new Preemptor(
                head.id(),
                head.path(),
                head.user(),
                head.priority(),
                poolCapacity,
                quotaRequest,
                placementRequest,
                allowedActions);
    }

    /** Whether the pool could take it with every known node up and empty. */
    boolean couldEverFit(PlacementRequest placementRequest) {
        Boolean known = possible;
        if (known == null) {
            known = poolCapacity.couldEverFit(placementRequest);
            possible = known;
        }
        return known;
    }

    /** Whether nodes that could take it are known, and all of them are closed to new work of its tenant. */
    boolean isOnlyForClosedNodes(PlacementRequest placementRequest) {
        Boolean known = onlyForClosedNodes;
        if (known == null) {
            known = poolCapacity.isOnlyForClosedNodes(placementRequest);
            onlyForClosedNodes = known;
        }
        return known;
    }
}
