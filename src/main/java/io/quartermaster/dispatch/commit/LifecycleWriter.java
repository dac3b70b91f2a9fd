package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.lifecycle.AttemptStopReason;
import io.quartermaster.dispatch.lifecycle.LifecycleRules;
import io.quartermaster.dispatch.lifecycle.LifecycleStep;
import io.quartermaster.dispatch.lifecycle.RetryBackoff;
import io.quartermaster.dispatch.lifecycle.SurplusStep;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.dispatch.transaction.PlanRows;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.AttemptOutcome;
import io.quartermaster.workloads.WorkloadAttemptState;
import io.quartermaster.workloads.WorkloadState;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Consumer;
import java.util.stream.LongStream;

/**
 * Carries out the {@link LifecycleStep}s of workloads: it writes the rows of the plan and the changes for the engine.
 * It decides nothing.
 */
public final class LifecycleWriter {

    private final PlanRows rows;
    private final Fence fence;
    private final EngineFacts facts;
    private final Consumer<WorkloadRecord> engine;
    private final Map<UUID, Long> lost;
    private final long pausedForMillis;
    private final Map<UUID, WorkloadRecord> written = new TreeMap<>();

    /**
     * @param engine receives each workload as it is after its step
     * @param pausedForMillis how long paused processes wait to resume
     */
    public LifecycleWriter(
            PlanRows rows,
            Fence fence,
            EngineFacts facts,
            Consumer<WorkloadRecord> engine,
            Map<UUID, Long> lost,
            long pausedForMillis) {
        this.pausedForMillis = pausedForMillis;
        this.rows = rows;
        this.fence = fence;
        this.facts = facts;
        this.engine = engine;
        this.lost = lost;
    }

    /** The records of the workloads that changed, as they are after their steps. */
    public Map<UUID, WorkloadRecord> written() {
        return written;
    }

    /**
     * Handles first the surplus workers that are over, then the workload itself, then the surplus workers that continue
     * or have to stop with it.
     */
    public void write(WorkloadRecord stored) {
        WorkloadRecord record = applySurplusSteps(stored);
        WorkloadRecord after =
                switch (LifecycleRules.next(record, lost.keySet())) {
                    case LifecycleStep.NoStep() -> keepState(record);
                    case LifecycleStep.ChangeState become -> changeState(record, become);
                    case LifecycleStep.PauseEnded() -> pauseEnded(record);
                    case LifecycleStep.Progress progress -> progress(record, requireAttempt(record), progress);
                    case LifecycleStep.AskToStop ask -> askToStop(record, requireAttempt(record), ask.reason());
                    case LifecycleStep.Shorten shorten ->
                        record.with(shortenDeadline(record, requireAttempt(record), shorten.deadlineMillis()));
                    case LifecycleStep.End end -> endAttempt(record, requireAttempt(record), end);
                };
        notifyEngine(applySurplusSteps(after));
    }

    private void notifyEngine(WorkloadRecord after) {
        engine.accept(after);
        if (after.isOver()) {
            after.nomination().ifPresent(place -> rows.withdrawNomination(after.tenant(), after.id()));
        } else if (after.isHeldInQueue() && !after.isDelayed(fence.stampMillis()) && !after.isLeaving()) {
            rows.addReason(
                    after.id(),
                    PendingReasons.QUEUE_HELD,
                    PendingReasons.heldInQueueReason(
                            facts.firstPool(after), after.terms().queueName()));
        }
        written.put(after.id(), after);
    }

    /** A node can also be lost while its attempt is stopping and waits for other nodes. */
    private WorkloadRecord keepState(WorkloadRecord record) {
        record.attempt()
                .filter(attempt -> attempt.nodes().stream().anyMatch(lost::containsKey))
                .ifPresent(attempt -> recordSilence(record.tenant(), attempt));
        return record;
    }

    private WorkloadRecord changeState(WorkloadRecord record, LifecycleStep.ChangeState become) {
        JsonObject more = new JsonObject();
        become.endReason().ifPresent(reason -> more.put("end_reason", reason));
        rows.setWorkloadState(record, become.state(), more);
        WorkloadRecord after = record.without(
                become.state(),
                record.atHeadSinceMillis(),
                record.retryBackoff().withoutDelay());
        return record.paused().isEmpty()
                ? after
                : endPause(after, record.paused().get());
    }

    /**
     * Ends the pause. The node no longer lists the paused processes in its desired state, ends them, and reports when
     * they are over.
     */
    private WorkloadRecord endPause(WorkloadRecord after, PausedWork work) {
        rows.touchNode(work.node());
        if (after.isOver() || LifecycleRules.isAbandoned(after)) {
            return after.leaving(Optional.empty());
        }
        rows.setWorkloadPausing(after.id(), work.attempt(), work.node(), OptionalLong.empty());
        if (after.state() instanceof WorkloadState.Waiting) {
            rows.addReason(after.id(), PendingReasons.RETRY, PendingReasons.leavingReason(facts.firstPool(after)));
        }
        return after;
    }

    private WorkloadRecord pauseEnded(WorkloadRecord record) {
        rows.addEndedPause(record);
        return record.leaving(Optional.empty());
    }

    private WorkloadRecord progress(WorkloadRecord record, LiveAttempt attempt, LifecycleStep.Progress progress) {
        WorkloadRecord after = record.with(progress(record.tenant(), attempt, progress.state()));
        if (!record.state().equals(after.state())) {
            rows.setWorkloadState(record, after.state(), new JsonObject().put("attempt", attempt.number()));
        }
        return after;
    }

    private WorkloadRecord askToStop(WorkloadRecord record, LiveAttempt attempt, AttemptStopReason reason) {
        rows.setWorkloadState(record, new WorkloadState.Stopping(), new JsonObject().put("attempt", attempt.number()));
        return record.with(stopAttempt(record, attempt, reason));
    }

    private WorkloadRecord endAttempt(WorkloadRecord record, LiveAttempt attempt, LifecycleStep.End end) {
        JsonObject more = new JsonObject()
                .put("attempt", attempt.number())
                .put("outcome", end.outcome().word())
                .put("at_head", end.atHead());
        end.endReason().ifPresent(reason -> more.put("end_reason", reason));
        RetryBackoff retryBackoff = end.outcome() == AttemptOutcome.LOST
                ? record.retryBackoff().afterLoss(attempt.boundMillis(), fence.stampMillis())
                : RetryBackoff.NONE;
        rows.setWorkloadState(record, end.state(), more, retryBackoff);
        OptionalLong atHeadSince = end.atHead() ? OptionalLong.of(fence.stampMillis()) : OptionalLong.empty();
        WorkloadRecord after = record.without(end.state(), atHeadSince, retryBackoff);
        if (end.outcome() == AttemptOutcome.PAUSED && !after.isOver()) {
            after = keepPaused(after, attempt);
        }
        if (after.isDelayed(fence.stampMillis())) {
            rows.addReason(
                    after.id(), PendingReasons.RETRY, PendingReasons.retryReason(facts.firstPool(after), retryBackoff));
        }
        rows.addEndedAttempt(record.tenant(), attempt.id(), end.outcome(), end.exitCode(), end.message());
        freeAttempt(record.tenant(), attempt);
        return after;
    }

    /** Records that the processes are still on the node, whether they may stay there or not. */
    private WorkloadRecord keepPaused(WorkloadRecord after, LiveAttempt attempt) {
        UUID node = attempt.nodes().getFirst();
        long untilMillis = fence.stampMillis() + pausedForMillis;
        rows.setWorkloadPausing(after.id(), attempt.id(), node, OptionalLong.of(untilMillis));
        return after.leaving(Optional.of(new PausedWork(
                attempt.id(),
                node,
                attempt.pool(),
                attempt.gpuMilli(),
                untilMillis,
                PausedWork.Processes.SUSPENDED,
                true)));
    }

    private WorkloadRecord applySurplusSteps(WorkloadRecord record) {
        WorkloadRecord after = record;
        if (record.attempt().isPresent()) {
            for (SurplusWorker worker : record.attempt().get().surplus().workers()) {
                LiveAttempt core = requireAttempt(after);
                LiveAttempt attempt = worker.attempt();
                core = switch (LifecycleRules.next(core, worker, lost.keySet())) {
                    case SurplusStep.NoStep() -> core;
                    case SurplusStep.Progress(WorkloadAttemptState.Wanted state) ->
                        core.with(core.surplus()
                                .with(new SurplusWorker(worker.number(), progress(record.tenant(), attempt, state))));
                    case SurplusStep.AskToStop(AttemptStopReason reason) ->
                        core.with(core.surplus()
                                .with(new SurplusWorker(worker.number(), stopAttempt(record, attempt, reason))));
                    case SurplusStep.Shorten(long deadlineMillis) ->
                        core.with(core.surplus()
                                .with(new SurplusWorker(
                                        worker.number(), shortenDeadline(record, attempt, deadlineMillis))));
                    case SurplusStep.End end -> {
                        rows.addEndedAttempt(
                                record.tenant(), attempt.id(), end.outcome(), end.exitCode(), end.message());
                        freeAttempt(record.tenant(), attempt);
                        yield core.with(core.surplus().without(worker, end.isFinal()));
                    }
                };
                after = after.with(core);
            }
        }
        return after;
    }

    private LiveAttempt progress(TenantId tenant, LiveAttempt attempt, WorkloadAttemptState.Wanted state) {
        rows.addAttemptProgress(tenant, attempt.id(), state);
        if (state instanceof WorkloadAttemptState.Running) {
            recordPhase(tenant, attempt, "running", fence.stampMillis());
        }
        return attempt.withState(state);
    }

    private LiveAttempt stopAttempt(WorkloadRecord record, LiveAttempt attempt, AttemptStopReason reason) {
        long grace = Math.min(
                record.terms().graceMillis(),
                Math.max(0, record.stopByMillis().orElse(Long.MAX_VALUE) - fence.stampMillis()));
        rows.addAttemptStop(record.tenant(), attempt.id(), reason, grace);
        if (!recordSilence(record.tenant(), attempt)) {
            recordPhase(record.tenant(), attempt, "stopping", fence.stampMillis());
        }
        touchNodes(attempt);
        return attempt.withStop(reason, fence.stampMillis() + grace);
    }

    private LiveAttempt shortenDeadline(WorkloadRecord record, LiveAttempt attempt, long deadlineMillis) {
        rows.addAttemptDeadline(record.tenant(), attempt.id(), deadlineMillis);
        touchNodes(attempt);
        return attempt.withDeadline(deadlineMillis);
    }

    /**
     * Frees the attempt's devices, by the first plan after the processes ended, however late that is. The tenant did
     * not cause the time in between, so that time has the phase {@code ended}. A loss of the node may be recorded
     * already; it is recorded again, because a leader may end between giving the node up and recording it.
     */
    private void freeAttempt(TenantId tenant, LiveAttempt attempt) {
        if (!recordSilence(tenant, attempt)) {
            attempt.workEndedMillis().stream()
                    .filter(ended -> ended < fence.stampMillis())
                    .forEach(ended -> recordPhase(tenant, attempt, "ended", ended));
        }
        if (attempt.gpuMilli() > 0) {
            rows.addUsageEvent(
                    tenant,
                    "freed",
                    attempt.pool(),
                    new JsonObject().put("allocation_id", attempt.id().toString()));
        }
        touchNodes(attempt);
    }

    /**
     * Marks the allocation as out of contact since the lost node's last report: its earlier phases are uncertain from
     * then until it is free. This does not apply to a node that had reported the end of its processes before contact
     * was lost.
     *
     * @return whether a node of the attempt is out of contact
     */
    private boolean recordSilence(TenantId tenant, LiveAttempt attempt) {
        OptionalLong since = LongStream.concat(
                        attempt.silentSinceMillis().stream(),
                        attempt.nodes().stream()
                                .filter(node -> lost.containsKey(node) && !attempt.hasReportedEnd(node))
                                .mapToLong(node -> lost.getOrDefault(node, fence.stampMillis())))
                .min();
        since.ifPresent(millis -> recordPhase(tenant, attempt, "out-of-contact", millis));
        return since.isPresent();
    }

    private void recordPhase(TenantId tenant, LiveAttempt attempt, String phase, long sinceMillis) {
        long since = Math.max(attempt.boundMillis(), sinceMillis);
        rows.addPhase(tenant, attempt, phase, Math.min(since, fence.stampMillis()));
    }

    private void touchNodes(LiveAttempt attempt) {
        attempt.nodes().forEach(rows::touchNode);
    }

    private static LiveAttempt requireAttempt(WorkloadRecord record) {
        return record.attempt()
                .orElseThrow(() -> new IllegalStateException("workload " + record.id() + " has no live attempt"));
    }
}
