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
        WorkloadRecord record = surplus(stored);
        WorkloadRecord after =
                switch (LifecycleRules.next(record, lost.keySet())) {
                    case LifecycleStep.Stay() -> stay(record);
                    case LifecycleStep.Become become -> become(record, become);
                    case LifecycleStep.Left() -> pauseEnded(record);
                    case LifecycleStep.Progress progress -> progress(record, attempt(record), progress);
                    case LifecycleStep.AskToStop ask -> askToStop(record, attempt(record), ask.reason());
                    case LifecycleStep.Shorten shorten ->
                        record.with(shorten(record, attempt(record), shorten.deadlineMillis()));
                    case LifecycleStep.End end -> end(record, attempt(record), end);
                };
        notifyEngine(surplus(after));
    }

    private void notifyEngine(WorkloadRecord after) {
        engine.accept(after);
        if (after.over()) {
            after.nomination().ifPresent(place -> rows.denomination(after.tenant(), after.id()));
        } else if (after.isHeldInQueue() && !after.isDelayed(fence.stampMillis()) && !after.isLeaving()) {
            rows.reason(
                    after.id(),
                    PendingReasons.QUEUE_HELD,
                    PendingReasons.heldInQueue(
                            facts.firstPool(after), after.terms().queueName()));
        }
        written.put(after.id(), after);
    }

    /** A node can also be lost while its attempt is stopping and waits for other nodes. */
    private WorkloadRecord stay(WorkloadRecord record) {
        record.attempt()
                .filter(attempt -> attempt.nodes().stream().anyMatch(lost::containsKey))
                .ifPresent(attempt -> outOfContact(record.tenant(), attempt));
        return record;
    }

    private WorkloadRecord become(WorkloadRecord record, LifecycleStep.Become become) {
        JsonObject more = new JsonObject();
        become.endReason().ifPresent(reason -> more.put("end_reason", reason));
        rows.workloadState(record, become.state(), more);
        WorkloadRecord after = record.without(
                become.state(), record.atHeadSinceMillis(), record.setbacks().withoutDelay());
        return record.paused().isEmpty()
                ? after
                : endPause(after, record.paused().get());
    }

    /**
     * Ends the pause. The node no longer lists the paused processes in its desired state, ends them, and reports when
     * they are over.
     */
    private WorkloadRecord endPause(WorkloadRecord after, PausedWork work) {
        rows.touch(work.node());
        if (after.over() || LifecycleRules.isAbandoned(after)) {
            return after.leaving(Optional.empty());
        }
        rows.workloadLeaves(after.id(), work.attempt(), work.node(), OptionalLong.empty());
        if (after.state() instanceof WorkloadState.Waiting) {
            rows.reason(after.id(), PendingReasons.RETRY, PendingReasons.leaving(facts.firstPool(after)));
        }
        return after;
    }

    private WorkloadRecord pauseEnded(WorkloadRecord record) {
        rows.workloadLeft(record);
        return record.leaving(Optional.empty());
    }

    private WorkloadRecord progress(WorkloadRecord record, LiveAttempt attempt, LifecycleStep.Progress progress) {
        WorkloadRecord after = record.with(progress(record.tenant(), attempt, progress.state()));
        if (!record.state().equals(after.state())) {
            rows.workloadState(record, after.state(), new JsonObject().put("attempt", attempt.number()));
        }
        return after;
    }

    private WorkloadRecord askToStop(WorkloadRecord record, LiveAttempt attempt, AttemptStopReason reason) {
        rows.workloadState(record, new WorkloadState.Stopping(), new JsonObject().put("attempt", attempt.number()));
        return record.with(stop(record, attempt, reason));
    }

    private WorkloadRecord end(WorkloadRecord record, LiveAttempt attempt, LifecycleStep.End end) {
        JsonObject more = new JsonObject()
                .put("attempt", attempt.number())
                .put("outcome", end.outcome().word())
                .put("at_head", end.atHead());
        end.endReason().ifPresent(reason -> more.put("end_reason", reason));
        RetryBackoff retryBackoff = end.outcome() == AttemptOutcome.LOST
                ? record.setbacks().afterLoss(attempt.boundMillis(), fence.stampMillis())
                : RetryBackoff.NONE;
        rows.workloadState(record, end.state(), more, retryBackoff);
        OptionalLong atHeadSince = end.atHead() ? OptionalLong.of(fence.stampMillis()) : OptionalLong.empty();
        WorkloadRecord after = record.without(end.state(), atHeadSince, retryBackoff);
        if (end.outcome() == AttemptOutcome.PAUSED && !after.over()) {
            after = keepPaused(after, attempt);
        }
        if (after.isDelayed(fence.stampMillis())) {
            rows.reason(after.id(), PendingReasons.RETRY, PendingReasons.retry(facts.firstPool(after), retryBackoff));
        }
        rows.attemptEnded(record.tenant(), attempt.id(), end.outcome(), end.exitCode(), end.message());
        free(record.tenant(), attempt);
        return after;
    }

    /** Records that the processes are still on the node, whether they may stay there or not. */
    private WorkloadRecord keepPaused(WorkloadRecord after, LiveAttempt attempt) {
        UUID node = attempt.nodes().getFirst();
        long untilMillis = fence.stampMillis() + pausedForMillis;
        rows.workloadLeaves(after.id(), attempt.id(), node, OptionalLong.of(untilMillis));
        return after.leaving(Optional.of(new PausedWork(
                attempt.id(),
                node,
                attempt.pool(),
                attempt.gpuMilli(),
                untilMillis,
                PausedWork.Processes.STAND_STILL,
                true)));
    }

    private WorkloadRecord surplus(WorkloadRecord record) {
        WorkloadRecord after = record;
        if (record.attempt().isPresent()) {
            for (SurplusWorker worker : record.attempt().get().surplus().workers()) {
                LiveAttempt core = attempt(after);
                LiveAttempt attempt = worker.attempt();
                core = switch (LifecycleRules.next(core, worker, lost.keySet())) {
                    case SurplusStep.Stay() -> core;
                    case SurplusStep.Progress(WorkloadAttemptState.Wanted state) ->
                        core.with(core.surplus()
                                .with(new SurplusWorker(worker.number(), progress(record.tenant(), attempt, state))));
                    case SurplusStep.AskToStop(AttemptStopReason reason) ->
                        core.with(
                                core.surplus().with(new SurplusWorker(worker.number(), stop(record, attempt, reason))));
                    case SurplusStep.Shorten(long deadlineMillis) ->
                        core.with(core.surplus()
                                .with(new SurplusWorker(worker.number(), shorten(record, attempt, deadlineMillis))));
                    case SurplusStep.End end -> {
                        rows.attemptEnded(record.tenant(), attempt.id(), end.outcome(), end.exitCode(), end.message());
                        free(record.tenant(), attempt);
                        yield core.with(core.surplus().without(worker, end.forGood()));
                    }
                };
                after = after.with(core);
            }
        }
        return after;
    }

    private LiveAttempt progress(TenantId tenant, LiveAttempt attempt, WorkloadAttemptState.Wanted state) {
        rows.attemptProgress(tenant, attempt.id(), state);
        if (state instanceof WorkloadAttemptState.Running) {
            phase(tenant, attempt, "running", fence.stampMillis());
        }
        return attempt.as(state);
    }

    private LiveAttempt stop(WorkloadRecord record, LiveAttempt attempt, AttemptStopReason reason) {
        long grace = Math.min(
                record.terms().graceMillis(),
                Math.max(0, record.stopByMillis().orElse(Long.MAX_VALUE) - fence.stampMillis()));
        rows.attemptStopping(record.tenant(), attempt.id(), reason, grace);
        if (!outOfContact(record.tenant(), attempt)) {
            phase(record.tenant(), attempt, "stopping", fence.stampMillis());
        }
        touch(attempt);
        return attempt.told(reason, fence.stampMillis() + grace);
    }

    private LiveAttempt shorten(WorkloadRecord record, LiveAttempt attempt, long deadlineMillis) {
        rows.attemptDueBy(record.tenant(), attempt.id(), deadlineMillis);
        touch(attempt);
        return attempt.dueBy(deadlineMillis);
    }

    /**
     * Frees the attempt's devices, by the first plan after the processes ended, however late that is. The tenant did
     * not cause the time in between, so that time has the phase {@code ended}. A loss of the node may be recorded
     * already; it is recorded again, because a leader may end between giving the node up and recording it.
     */
    private void free(TenantId tenant, LiveAttempt attempt) {
        if (!outOfContact(tenant, attempt)) {
            attempt.workEndedMillis().stream()
                    .filter(ended -> ended < fence.stampMillis())
                    .forEach(ended -> phase(tenant, attempt, "ended", ended));
        }
        if (attempt.gpuMilli() > 0) {
            rows.usage(
                    tenant,
                    "freed",
                    attempt.pool(),
                    new JsonObject().put("allocation_id", attempt.id().toString()));
        }
        touch(attempt);
    }

    /**
     * Marks the allocation as out of contact since the lost node's last report: its earlier phases are uncertain from
     * then until it is free. This does not apply to a node that had reported the end of its processes before contact
     * was lost.
     *
     * @return whether a node of the attempt is out of contact
     */
    private boolean outOfContact(TenantId tenant, LiveAttempt attempt) {
        OptionalLong since = LongStream.concat(
                        attempt.silentSinceMillis().stream(),
                        attempt.nodes().stream()
                                .filter(node -> lost.containsKey(node) && !attempt.hasToldItsEnd(node))
                                .mapToLong(node -> lost.getOrDefault(node, fence.stampMillis())))
                .min();
        since.ifPresent(millis -> phase(tenant, attempt, "out-of-contact", millis));
        return since.isPresent();
    }

    private void phase(TenantId tenant, LiveAttempt attempt, String phase, long sinceMillis) {
        long since = Math.max(attempt.boundMillis(), sinceMillis);
        rows.phase(tenant, attempt, phase, Math.min(since, fence.stampMillis()));
    }

    private void touch(LiveAttempt attempt) {
        attempt.nodes().forEach(rows::touch);
    }

    private static LiveAttempt attempt(WorkloadRecord record) {
        return record.attempt()
                .orElseThrow(() -> new IllegalStateException("workload " + record.id() + " has no live attempt"));
    }
}
