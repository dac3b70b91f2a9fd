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

/** Reasons that changed and are not yet written: a plan writes a bounded number, the rest follows with the next. */
public final class PendingReasons {

    /** Not the engine's, which is not asked about what is to be tried again later. */
    public static final String RETRY = "RETRY";

    /** Nor about what its queue holds. */
    public static final String QUEUE_HELD = "QUEUE_HELD";

    private final int perPlan;
    private final Map<WorkloadId, WaitReasons> pending = new LinkedHashMap<>();

    public PendingReasons(int perPlan) {
        this.perPlan = perPlan;
    }

    public void add(List<WaitReasons> waits) {
        waits.forEach(waitReasons -> pending.put(waitReasons.workload(), waitReasons));
    }

    /** What was to be said of it is so no more. */
    public void withdraw(WorkloadId workload) {
        pending.remove(workload);
    }

    static JsonArray retry(PoolId pool, RetryBackoff retryBackoff) {
        return new JsonArray()
                .add(
                        new JsonObject()
                                .put("pool", pool.value())
                                .put("code", RETRY)
                                .put("sentence", retryBackoff.sentence())
                                .put(
                                        "remedy",
                                        "Read the message of its last attempt, which says how the attempt was lost. Hold and release the workload to try again at once."));
    }

    static JsonArray heldInQueue(PoolId pool, String queue) {
        return new JsonArray()
                .add(new JsonObject()
                        .put("pool", pool.value())
                        .put("code", QUEUE_HELD)
                        .put("sentence", "Its queue " + queue + " is held: no waiting work of a held queue is started.")
                        .put("remedy", "Ask an admin to open queue " + queue + " again."));
    }

    static JsonArray leaving(PoolId pool) {
        return new JsonArray()
                .add(new JsonObject()
                        .put("pool", pool.value())
                        .put("code", RETRY)
                        .put(
                                "sentence",
                                "Its paused processes are being ended; it is started again once they are gone.")
                        .put("remedy", "Wait until the paused processes have ended; nothing else is needed."));
    }

    /** Writes the oldest; true when some are left. */
    public boolean write(PlanRows rows) {
        Iterator<WaitReasons> oldest = pending.values().iterator();
        for (int n = 0; n < perPlan && oldest.hasNext(); n++) {
            WaitReasons waitReasons = oldest.next();
            oldest.remove();
            JsonArray perPool = new JsonArray();
            waitReasons.perPool().forEach(reason -> perPool.add(json(reason)));
            rows.reason(
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
        // Where no bound of the tenant's own is named, what is used is others' too, and not for the tenant to know.
        numbers.boundGpuMilli().ifPresent(bound -> json.put("used", decimal(numbers.usedGpuMilli()))
                .put("bound", decimal(bound)));
        return json;
    }

    private static String decimal(long gpuMilli) {
        return new GpuAmount(gpuMilli).decimal();
    }
}
