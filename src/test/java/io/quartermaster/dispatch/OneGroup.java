package io.quartermaster.dispatch;

import java.util.UUID;

/** A pool with one node that belongs to one group, and a queue of that group. */
public record OneGroup(CellRows rows, UUID pool, UUID policy, UUID profile, UUID queue) {

    /** @param each the GPUs of each workload in the queue */
    public static OneGroup of(CellRows rows, int gpus, int each) {
        return of(rows, rows.poolOf(gpus), gpus, each);
    }

    /** A group with a queue in an existing pool. */
    public static OneGroup of(CellRows rows, UUID pool, int gpus, int each) {
        UUID policy = rows.policy("/all", pool, gpus, gpus);
        UUID profile = rows.profile(each, pool);
        return new OneGroup(rows, pool, policy, profile, rows.queue(policy, profile));
    }

    public UUID submit() {
        return rows.submit(queue, policy, profile);
    }
}
