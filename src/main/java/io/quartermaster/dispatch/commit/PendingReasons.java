package io.quartermaster.dispatch.commit;

import io.quartermaster.dispatch.lifecycle.RetryBackoff;
import io.quartermaster.dispatch.transaction.PlanRows;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.platform.GpuAmount;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Changed reasons that are not yet written: each plan writes a limited number, and the next plans write the rest. */
public final class PendingReasons {

    /**
     * A reason of the leader, not of the engine: the engine does not consider a workload that is to be retried later.
     */
    public static final String RETRY = "RETRY";

    /** A reason of the leader too: the engine does not consider the workloads of a held queue. */
    public static final String QUEUE_HELD = "QUEUE_HELD";

    private final int maxPerPlan;
    private final Map<WorkloadId, WaitReasons> pending = new LinkedHashMap<>();

    public PendingReasons(int maxPerPlan) {
        this.maxPerPlan = maxPerPlan;
    }

    public void add(List<WaitReasons> waits) {
        waits.forEach(waitReasons -> pending.put(waitReasons.workload(), waitReasons));
    }

    /** Drops a reason that no longer applies. */
    public void withdraw(WorkloadId workload) {
        pending.remove(workload);
    }

    static JsonArray retryReason(PoolId pool, RetryBackoff retryBackoff) {
        return new JsonArray()
                .add(new JsonObject()
                        .put("pool", pool.value())
                        .put("code", RETRY)
                        .put("sentence", retryBackoff.sentence())
                        .put(
                                "remedy",
                                "Read the message of its last attempt, which states how the attempt was "
                                        + "lost. Hold and release the workload to retry it immediately."));
    }

    static JsonArray heldInQueueReason(PoolId pool, String queue) {
        return new JsonArray()
                .add(new JsonObject()
                        .put("pool", pool.value())
                        .put("code", QUEUE_HELD)
                        .put("sentence", "Its queue " + queue + " is held: no waiting workload of a held queue starts.")
                        .put("remedy", "Ask an admin to open queue " + queue + " again."));
    }

    static JsonArray leavingReason(PoolId pool) {
        return new JsonArray()
                .add(new JsonObject()
                        .put("pool", pool.value())
                        .put("code", RETRY)
                        .put(
                                "sentence",
                                "Its paused processes are being ended; the workload can start again after that.")
                        .put("remedy", "Wait until the paused processes have ended; nothing else is needed."));
    }

    /** Writes the oldest reasons; returns true if some are left. */
    public boolean write(PlanRows rows) {
        Iterator<WaitReasons> oldest = pending.values().iterator();
        for (int n = 0; n < maxPerPlan && oldest.hasNext(); n++) {
            WaitReasons waitReasons = oldest.next();
            oldest.remove();
            JsonArray perPool = new JsonArray();
            waitReasons.perPool().forEach(reason -> perPool.add(json(reason)));
            rows.addReason(
                    UUID.fromString(waitReasons.workload().value()),
                    waitReasons.reason().code().name(),
                    perPool);
        }
        return !pending.isEmpty();
    }

    static JsonObject json(Reason reason) {
        Reason.Numbers numbers = reason.numbers();
        JsonObject json = new JsonObject()
                .put("pool", reason.pool().value())
                .put("code", reason.code().name())
                .put("requested", decimal(numbers.requestedGpuMilli()))
                .put("free", decimal(numbers.freeGpuMilli()))
                .put("sentence", reason.sentence())
                .put("remedy", reason.remedy());
        reason.path().ifPresent(path -> json.put("path", path.group()));
        // Without a bound of the tenant's own, the used amount includes other tenants' usage, which the tenant must not
        // see.
        numbers.boundGpuMilli().ifPresent(bound -> json.put("used", decimal(numbers.usedGpuMilli()))
                .put("bound", decimal(bound)));
        return json;
    }

    private static String decimal(long gpuMilli) {
        return new GpuAmount(gpuMilli).decimal();
    }
}
