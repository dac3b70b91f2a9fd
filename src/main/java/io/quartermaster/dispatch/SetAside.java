package io.quartermaster.dispatch;

import io.quartermaster.platform.LeaderDatabase;
import io.vertx.mutiny.sqlclient.Row;
import org.jboss.logging.Logger;

/** Sets an inbox row aside, with an alarm, so that it does not stop the cell. Which one, {@link Suspicion} finds out. */
final class SetAside {

    private static final Logger LOG = Logger.getLogger(SetAside.class);

    private final LeaderDatabase database;
    private final DispatchConfig config;

    SetAside(LeaderDatabase database, DispatchConfig config) {
        this.database = database;
        this.config = config;
    }

    /** Whether it is set aside now; false when another leads or the database is away. */
    boolean row(long epoch, long id) {
        try {
            return database.run(config.commitTimeout(), tx -> {
                if (Fence.take(tx, config.cell(), epoch, config.lease()).isEmpty()) {
                    return false;
                }
                for (Row row : tx.run("""
                        update inbox set set_aside_at = clock_timestamp(), set_aside_why = 'every plan with it failed'
                         where id = $1 returning tenant_id, kind, ref
                        """, id)) {
                    LOG.errorf(
                            "ALARM: inbox row %d (tenant %s, %s %s) is set aside: every plan with it failed",
                            id, row.getString("tenant_id"), row.getString("kind"), row.getString("ref"));
                }
                return true;
            });
        } catch (RuntimeException e) {
            LOG.debugf("nothing could be set aside: %s", e.getMessage());
            return false;
        }
    }
}
