package io.quartermaster.dispatch;

import io.quartermaster.dispatch.WorkloadRecord.LiveAttempt;
import io.quartermaster.engine.Change;
import io.quartermaster.engine.WorkloadState;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;

/** Carries out the {@link Step}s of workloads: into the rows of the plan, and into what the engine is told. */
final class Settling {

    private final PlanRows rows;
    private final Fence fence;
    private final EngineFacts facts;
    private final List<Change> changes;
    private final Map<UUID, Long> lost;
    private final Map<UUID, WorkloadRecord> settled = new TreeMap<>();

    Settling(PlanRows rows, Fence fence, EngineFacts facts, List<Change> changes, Map<UUID, Long> lost) {
        this.rows = rows;
        this.fence = fence;
        this.facts = facts;
        this.changes = changes;
        this.lost = lost;
    }

    /** The records of those that took a step, as they are after it. */
    Map<UUID, WorkloadRecord> settled() {
        return settled;
    }

    void settle(WorkloadRecord record) {
        switch (Transitions.next(record, lost.keySet())) {
            case Step.Stay() -> stay(record);
            case Step.Become become -> become(record, become);
            case Step.Progress progress -> progress(record, attempt(record), progress);
            case Step.AskToStop ask -> askToStop(record, attempt(record), ask);
            case Step.End end -> end(record, attempt(record), end);
        }
    }

    private void stay(WorkloadRecord record) {
        changes.add(
                record.over()
                        ? new Change.WorkloadRemoved(EngineFacts.id(record.id()))
                        : new Change.WorkloadSet(facts.asStored(record)));
    }

    private void become(WorkloadRecord record, Step.Become become) {
        JsonObject more = new JsonObject();
        become.endReason().ifPresent(reason -> more.put("end_reason", reason));
        rows.workloadState(record, become.state(), more);
        leaveQueueOrStay(after(record, become.state(), record.atHead(), Optional.empty()));
    }

    private void progress(WorkloadRecord record, LiveAttempt attempt, Step.Progress progress) {
        rows.attemptProgress(record.tenant(), attempt.id(), progress.state());
        if (!record.state().equals(progress.state())) {
            rows.workloadState(record, progress.state(), new JsonObject().put("attempt", attempt.number()));
        }
        if (progress.state().equals("running")) {
            phase(record, attempt, "running");
        }
        changes.add(new Change.WorkloadSet(facts.asStored(record)));
        settled.put(record.id(), record);
    }

    private void askToStop(WorkloadRecord record, LiveAttempt attempt, Step.AskToStop ask) {
        long grace = record.terms().graceMillis();
        rows.attemptStopping(record.tenant(), attempt.id(), ask.reason(), grace);
        rows.workloadState(record, "stopping", new JsonObject().put("attempt", attempt.number()));
        outOfContact(record, attempt);
        phase(record, attempt, "stopping");
        touch(attempt);
        WorkloadState stopping = facts.stopping(attempt, fence.stampMillis() + grace);
        changes.add(new Change.WorkloadSet(facts.workload(record, stopping, false)));
        settled.put(record.id(), record);
    }

    private void end(WorkloadRecord record, LiveAttempt attempt, Step.End end) {
        rows.attemptEnded(record.tenant(), attempt.id(), end);
        JsonObject more = new JsonObject()
                .put("attempt", attempt.number())
                .put("outcome", end.outcome())
                .put("at_head", end.atHead());
        end.endReason().ifPresent(reason -> more.put("end_reason", reason));
        rows.workloadState(record, end.state(), more);
        outOfContact(record, attempt);
        if (attempt.gpuMilli() > 0) {
            rows.usage(
                    record.tenant(),
                    "freed",
                    attempt.pool(),
                    new JsonObject().put("allocation_id", attempt.id().toString()));
        }
        touch(attempt);
        leaveQueueOrStay(after(record, end.state(), end.atHead(), Optional.empty()));
    }

    private void leaveQueueOrStay(WorkloadRecord after) {
        if (after.over()) {
            changes.add(new Change.WorkloadRemoved(EngineFacts.id(after.id())));
            after.nomination().ifPresent(place -> rows.denomination(after.tenant(), after.id()));
        } else {
            changes.add(new Change.WorkloadSet(facts.asStored(after)));
        }
        settled.put(after.id(), after);
    }

    /** What was known of an allocation on a lost node is not known to be true since the node's last word. */
    private void outOfContact(WorkloadRecord record, LiveAttempt attempt) {
        attempt.devices().stream()
                .flatMap(device -> device.node().stream())
                .filter(lost::containsKey)
                .mapToLong(node -> lost.getOrDefault(node, fence.stampMillis()))
                .min()
                .ifPresent(
                        since -> usagePhase(record, attempt, "out-of-contact", Math.max(attempt.boundMillis(), since)));
    }

    private void phase(WorkloadRecord record, LiveAttempt attempt, String phase) {
        usagePhase(record, attempt, phase, fence.stampMillis());
    }

    private void usagePhase(WorkloadRecord record, LiveAttempt attempt, String phase, long sinceMillis) {
        if (attempt.gpuMilli() > 0) {
            rows.usage(
                    record.tenant(),
                    "phase",
                    attempt.pool(),
                    new JsonObject()
                            .put("allocation_id", attempt.id().toString())
                            .put("phase", phase)
                            .put("since_ms", Math.min(sinceMillis, fence.stampMillis())));
        }
    }

    private void touch(LiveAttempt attempt) {
        attempt.devices().forEach(device -> device.node().ifPresent(rows::touch));
    }

    private static LiveAttempt attempt(WorkloadRecord record) {
        return record.attempt()
                .orElseThrow(() -> new IllegalStateException("no attempt of " + record.id() + " is live"));
    }

    private static WorkloadRecord after(WorkloadRecord r, String state, boolean atHead, Optional<LiveAttempt> attempt) {
        return new WorkloadRecord(
                r.tenant(),
                r.id(),
                r.sequence(),
                r.terms(),
                r.submittedBy(),
                r.priority(),
                r.preemptible(),
                r.dedicatedOnly(),
                r.maxRuntimeMillis(),
                r.submittedMillis(),
                r.wish(),
                state,
                r.attempts(),
                atHead,
                attempt,
                r.nomination());
    }
}
