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
 * Quarantines, with an alarm, the input that makes cycles fail, so that it does not stop the cell. An inbox row that
 * names a workload stays; the workload is quarantined instead, because its reports and requests are valid and must not
 * be lost.
 */
public final class Quarantine {

    private static final Logger LOG = Logger.getLogger(Quarantine.class);

    private static final String ROW_REASON = "every cycle with it failed";

    private final SystemDatabase database;
    private final LeaderSettings settings;

    public Quarantine(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /**
     * Quarantines the row, or the workload that it names. Returns false if another replica leads or the database is
     * down.
     */
    public boolean quarantineRow(long epoch, long id) {
        return runFenced(epoch, (tx, fence) -> {
            for (Row row : tx.run("""
                    select w.id from inbox i join workload w on i.kind in ('workload', 'report')
                        and w.id::text = i.ref and w.set_aside_at is null
                       and w.state not in ('succeeded', 'failed', 'cancelled')
                     where i.id = $1
                    """, id)) {
                return raiseAlarm(
                        QuarantinedWorkloads.mark(tx, fence, settings.cell(), row.getUUID("id"), ROW_REASON),
                        ROW_REASON);
            }
            for (Row row : tx.run("""
                    update inbox set set_aside_at = $3::timestamptz, set_aside_why = $2 where id = $1
                        returning tenant_id, kind, ref
                    """, id, ROW_REASON, fence.stamp())) {
                LOG.errorf(
                        "ALARM: inbox row %d (tenant %s, %s %s) is quarantined: %s",
                        id, row.getString("tenant_id"), row.getString("kind"), row.getString("ref"), ROW_REASON);
            }
            return true;
        });
    }

    /** Quarantines the workload. Returns whether this call did it. */
    public boolean quarantineWorkload(long epoch, UUID workload, String why) {
        return runFenced(
                epoch,
                (tx, fence) -> raiseAlarm(QuarantinedWorkloads.mark(tx, fence, settings.cell(), workload, why), why));
    }

    private static boolean raiseAlarm(Optional<String> which, String why) {
        which.ifPresent(one -> LOG.errorf(
                "ALARM: %s is quarantined: %s. It keeps what it holds; the leader retries it by itself after "
                        + "a while",
                one, why));
        return which.isPresent();
    }

    private interface FencedWork {
        boolean run(SystemTransaction transaction, Fence fence);
    }

    private boolean runFenced(long epoch, FencedWork work) {
        try {
            return database.run(settings.bounds(), tx -> settings.fence(tx, epoch)
                    .map(fence -> work.run(tx, fence))
                    .orElse(false));
        } catch (RuntimeException e) {
            LOG.warnf("the quarantine failed: %s", e.getMessage());
            return false;
        }
    }
}
