package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;

/**
 * The tenants that plans leave out, because every plan with their stored allotments and policies fails. Whole tenants
 * are left out, since a part of the terms would be another promise. Their workloads are treated like quarantined ones
 * ({@link QuarantinedWorkloads}).
 */
public final class QuarantinedTenants {

    private QuarantinedTenants() {}

    /** Quarantines the tenant. Returns whether this call did it. */
    public static boolean mark(SystemTransaction transaction, Fence fence, TenantId tenant, String why) {
        return transaction
                .run(
                        "update tenant set set_aside_at = $3::timestamptz, set_aside_why = $2, set_aside_times = "
                                + "set_aside_times + 1, set_aside_until = "
                                + QuarantinedWorkloads.UNTIL.replace("$TIME", "$3::timestamptz")
                                + " where id = $1 and set_aside_at is null returning id",
                        tenant.value(),
                        why,
                        fence.stamp())
                .iterator()
                .hasNext();
    }

    /** Readmits these tenants to plans. Returns whether any of them was quarantined. */
    public static boolean release(SystemTransaction transaction, String[] tenants) {
        return transaction
                .run(
                        "update tenant set set_aside_at = null, set_aside_why = null, set_aside_until = null"
                                + " where id = any($1) and set_aside_at is not null returning id",
                        (Object) tenants)
                .iterator()
                .hasNext();
    }

    /** Extends the quarantine, for longer than before. Returns its end. */
    public static String requarantine(SystemTransaction transaction, Fence fence, TenantId tenant) {
        return QuarantinedWorkloads.retryTime(transaction.run(
                "update tenant set set_aside_times = set_aside_times + 1, set_aside_until = "
                        + QuarantinedWorkloads.UNTIL.replace("$TIME", "$2::timestamptz")
                        + " where id = $1 and set_aside_at is not null returning set_aside_until",
                tenant.value(),
                fence.stamp()));
    }
}
