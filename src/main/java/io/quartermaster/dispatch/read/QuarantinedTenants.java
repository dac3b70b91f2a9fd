package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;

/**
 * Tenants that the leader passes over, because no plan can be made with what is stored of their allotments and policies: whole tenants, since part of what is
 * granted would be another promise. Their work is as if it were set aside itself ({@link QuarantinedWorkloads}).
 */
public final class QuarantinedTenants {

    private QuarantinedTenants() {}

    /** Returns whether it is set aside by this. */
    public static boolean mark(SystemTransaction transaction, Fence fence, TenantId tenant, String why) {
        return transaction
                .run(
                        "update tenant set set_aside_at = $3::timestamptz, set_aside_why = $2, set_aside_times = set_aside_times + 1, set_aside_until = "
                                + QuarantinedWorkloads.UNTIL.replace("$TIME", "$3::timestamptz")
                                + " where id = $1 and set_aside_at is null returning id",
                        tenant.value(),
                        why,
                        fence.stamp())
                .iterator()
                .hasNext();
    }

    /** Plans are made with these again. Returns whether any of them was set aside. */
    public static boolean takeBack(SystemTransaction transaction, String[] tenants) {
        return transaction
                .run(
                        "update tenant set set_aside_at = null, set_aside_why = null, set_aside_until = null"
                                + " where id = any($1) and set_aside_at is not null returning id",
                        (Object) tenants)
                .iterator()
                .hasNext();
    }

    /** For longer than before. Returns until when. */
    public static String putBack(SystemTransaction transaction, Fence fence, TenantId tenant) {
        return QuarantinedWorkloads.until(transaction.run(
                "update tenant set set_aside_times = set_aside_times + 1, set_aside_until = "
                        + QuarantinedWorkloads.UNTIL.replace("$TIME", "$2::timestamptz")
                        + " where id = $1 and set_aside_at is not null returning set_aside_until",
                tenant.value(),
                fence.stamp()));
    }
}
