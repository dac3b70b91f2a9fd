package io.quartermaster.dispatch;

import io.quartermaster.platform.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import java.util.OptionalLong;
import org.jboss.logging.Logger;

/**
 * Finds the inbox row that makes cycles fail: each failure halves the batch, and when a batch of one row has failed three times that
 * row is set aside with an alarm, so that it does not stop the cell. A success doubles the batch again.
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

    int batchLimit() {
        return limit;
    }

    void succeeded() {
        limit = Math.min(config.batch(), limit * 2);
        failuresOfOne = 0;
    }

    void failed(OptionalLong epoch) {
        if (limit > 1) {
            limit = Math.max(1, limit / 2);
            return;
        }
        failuresOfOne++;
        if (failuresOfOne >= TRIES && epoch.isPresent()) {
            failuresOfOne = 0;
            setAsideTheNext(epoch.getAsLong());
        }
    }

    /** A database that is away fails here too, and then nothing is set aside. */
    private void setAsideTheNext(long epoch) {
        try {
            database.run(config.commitTimeout(), tx -> {
                if (Fence.take(tx, config.cell(), epoch, config.lease()).isEmpty()) {
                    return false;
                }
                for (Long id : InboxBatch.take(tx, config.cell(), 1).ids()) {
                    for (Row row : tx.run(
                            "update inbox set set_aside_at = clock_timestamp(), set_aside_why = 'every plan with it failed' where id = $1 returning tenant_id, kind, ref",
                            id)) {
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
