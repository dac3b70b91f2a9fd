package io.quartermaster.dispatch.quarantine;

import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.read.QuarantinedWorkloads;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.Optional;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * Sets aside, with an alarm, what makes turns fail, so that it does not stop the cell. An inbox row that names a workload stays: the workload
 * is set aside instead, since what is reported of it happened and what is asked for it is wanted.
 */
public final class Quarantine {

    private static final Logger LOG = Logger.getLogger(Quarantine.class);

    private static final String WHY = "every turn with it failed";

    private final SystemDatabase database;
    private final LeaderSettings settings;

    public Quarantine(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /** Whether the row, or the workload that it names, is set aside now; false when another leads or the database is away. */
    public boolean row(long epoch, long id) {
        return fenced(epoch, (tx, fence) -> {
            for (Row row : tx.run("""
                    select w.id from inbox i join workload w on i.kind in ('workload', 'report') and w.id::text = i.ref and w.set_aside_at is null
                       and w.state not in ('succeeded', 'failed', 'cancelled')
                     where i.id = $1
                    """, id)) {
                return alarm(QuarantinedWorkloads.mark(tx, fence, settings.cell(), row.getUUID("id"), WHY), WHY);
            }
            for (Row row : tx.run("""
                    update inbox set set_aside_at = $3::timestamptz, set_aside_why = $2 where id = $1 returning tenant_id, kind, ref
                    """, id, WHY, fence.stamp())) {
                LOG.errorf(
                        "ALARM: inbox row %d (tenant %s, %s %s) is set aside: %s",
                        id, row.getString("tenant_id"), row.getString("kind"), row.getString("ref"), WHY);
            }
            return true;
        });
    }

    /** Whether it is set aside by this. */
    public boolean workload(long epoch, UUID workload, String why) {
        return fenced(
                epoch, (tx, fence) -> alarm(QuarantinedWorkloads.mark(tx, fence, settings.cell(), workload, why), why));
    }

    private static boolean alarm(Optional<String> which, String why) {
        which.ifPresent(one -> LOG.errorf(
                "ALARM: %s is set aside: %s. What it holds stays its own; the leader tries again by itself after a while",
                one, why));
        return which.isPresent();
    }

    private interface Work {
        boolean with(SystemTransaction transaction, Fence fence);
    }

    private boolean fenced(long epoch, Work work) {
        try {
            return database.run(settings.bounds(), tx -> settings.fence(tx, epoch)
                    .map(fence -> work.with(tx, fence))
                    .orElse(false));
        } catch (RuntimeException e) {
            LOG.warnf("nothing could be set aside: %s", e.getMessage());
            return false;
        }
    }
}
