package io.quartermaster.dispatch;

import io.quartermaster.platform.SystemTransaction;
import io.quartermaster.platform.TenantId;

/**
 * Tenants that the leader passes over, because no plan can be made with what is stored of their allotments and policies: whole tenants, since part of what is
 * granted would be another promise. Their work is as if it were set aside itself ({@link SetAsideWork}).
 */
final class SetAsideTenants {

    private SetAsideTenants() {}

    /** Returns whether it is set aside by this. */
    static boolean mark(SystemTransaction transaction, Fence fence, TenantId tenant, String why) {
        return transaction
                .run(
                        "update tenant set set_aside_at = $3::timestamptz, set_aside_why = $2, set_aside_times = set_aside_times + 1, set_aside_until = "
                                + SetAsideWork.UNTIL.replace("$TIME", "$3::timestamptz")
                                + " where id = $1 and set_aside_at is null returning id",
                        tenant.value(),
                        why,
                        fence.stamp())
                .iterator()
                .hasNext();
    }

    /** All are looked at anew: what is stored of them may have been mended, or another version of the service know what to do with it. */
    static void takeBack(SystemTransaction transaction) {
        transaction.run(
                "update tenant set set_aside_at = null, set_aside_why = null, set_aside_until = null where set_aside_at is not null");
    }

    /** Those whose time is over. Returns whether there are any. */
    static boolean takeBackDue(SystemTransaction transaction, Fence fence) {
        return transaction
                .run(
                        "update tenant set set_aside_at = null, set_aside_why = null, set_aside_until = null"
                                + " where set_aside_at is not null and set_aside_until <= $1 returning id",
                        fence.stamp())
                .iterator()
                .hasNext();
    }
}
