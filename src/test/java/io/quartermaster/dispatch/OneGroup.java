package io.quartermaster.dispatch;

import java.util.UUID;

/** A pool of one node, all of it one group's, and a queue of that group. */
public record OneGroup(CellRows rows, UUID pool, UUID policy, UUID profile, UUID queue) {

    /** @param each GPUs that work of the queue asks for */
    public static OneGroup of(CellRows rows, int gpus, int each) {
        return of(rows, rows.poolOf(gpus), gpus, each);
    }

    /** The same in a pool that is there. */
    public static OneGroup of(CellRows rows, UUID pool, int gpus, int each) {
        UUID policy = rows.policy("/all", pool, gpus, gpus);
        UUID profile = rows.profile(each, pool);
        return new OneGroup(rows, pool, policy, profile, rows.queue(policy, profile));
    }

    public UUID submit() {
        return rows.submit(queue, policy, profile);
    }
}
