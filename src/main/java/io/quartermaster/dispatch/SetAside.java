package io.quartermaster.dispatch;

import io.quartermaster.platform.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import java.util.OptionalLong;
import org.jboss.logging.Logger;

/**
 * Finds the inbox row that makes cycles fail: each failure halves the batch. When a batch of one row has failed three times, a cycle
 * without any row is tried: if that succeeds, the row is to blame and is set aside with an alarm, so that it does not stop the cell; if
 * it fails too, no row is, and none is touched. A success doubles the batch again.
 */
final class SetAside {

    private static final Logger LOG = Logger.getLogger(SetAside.class);
    private static final int TRIES = 3;

    private final SystemDatabase database;
    private final DispatchConfig config;
    private int limit;
    private int failuresOfOne;

    SetAside(SystemDatabase database, DispatchConfig config) {
        this.database = database;
        this.config = config;
        this.limit = config.batch();
    }

    /** 0 while it is found out whether a row is to blame at all. */
    int batchLimit() {
        return limit;
    }

    void succeeded(OptionalLong epoch) {
        failuresOfOne = 0;
        if (limit == 0 && epoch.isPresent()) {
            setAsideTheNext(epoch.getAsLong());
        }
        limit = Math.clamp(limit * 2L, 1, config.batch());
    }

    void failed() {
        if (limit > 1) {
            limit /= 2;
        } else if (limit == 1 && ++failuresOfOne >= TRIES) {
            limit = 0;
        } else if (limit == 0) {
            failuresOfOne = 0;
            limit = 1;
        }
    }

    private void setAsideTheNext(long epoch) {
        try {
            database.run(config.commitTimeout(), tx -> {
                if (Fence.take(tx, config.cell(), epoch, config.lease()).isEmpty()) {
                    return false;
                }
                for (Long id : InboxBatch.take(tx, config.cell(), 1).ids()) {
                    for (Row row : tx.run("""
                            update inbox set set_aside_at = clock_timestamp(), set_aside_why = 'every plan with it failed'
                             where id = $1 returning tenant_id, kind, ref
                            """, id)) {
                        LOG.errorf(
                                "ALARM: inbox row %d (tenant %s, %s %s) is set aside: every plan with it failed",
                                id, row.getString("tenant_id"), row.getString("kind"), row.getString("ref"));
                    }
                }
                return true;
            });
        } catch (RuntimeException e) {
            LOG.debugf("nothing could be set aside: %s", e.getMessage());
        }
    }
}
