package io.quartermaster.dispatch.transaction;

import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.Optional;

/**
 * The right to write as the leader in one transaction. Taking the fence locks the cell's row until the transaction
 * ends. If two replicas believe that they lead, only the one with the newer epoch succeeds. The fence also gives the
 * stamp that dates everything in the transaction.
 *
 * <p>Single-threaded. Its stamp may advance during the transaction, so do not keep a copy.
 */
public final class Fence {

    private OffsetDateTime stamp;
    private long sequence;

    private Fence(OffsetDateTime stamp, long sequence) {
        this.stamp = stamp;
        this.sequence = sequence;
    }

    /** Becomes leader if no replica holds the lease. Returns the new epoch, or empty. */
    public static Optional<Long> acquire(SystemTransaction transaction, String cell, String name, Duration lease) {
        for (Row row : transaction.run("""
                update cell set epoch = epoch + 1, leader = $2,
                    lease_until = clock_timestamp() + $3::bigint * interval '1 millisecond'
                 where id = $1 and lease_until < clock_timestamp() returning epoch
                """, cell, name, lease.toMillis())) {
            return Optional.of(row.getLong("epoch"));
        }
        return Optional.empty();
    }

    /**
     * Takes the fence and renews the lease; empty if another epoch has begun. Stamps are whole milliseconds and never
     * go back.
     */
    public static Optional<Fence> renew(SystemTransaction transaction, String cell, long epoch, Duration lease) {
        for (Row row : transaction.run("""
                update cell set stamp = greatest(stamp, date_trunc('milliseconds', clock_timestamp())),
                                lease_until = clock_timestamp() + $3::bigint * interval '1 millisecond'
                 where id = $1 and epoch = $2 returning stamp, sequence
                """, cell, epoch, lease.toMillis())) {
            return Optional.of(new Fence(row.getOffsetDateTime("stamp"), row.getLong("sequence")));
        }
        return Optional.empty();
    }

    /**
     * Takes the stamp again. A transaction sees reports that were committed after its fence; this stamp is later than
     * they are, so no end is dated before its report.
     */
    public void advance(SystemTransaction transaction, String cell) {
        for (Row row : transaction.run("""
                update cell set stamp = greatest(stamp, date_trunc('milliseconds', clock_timestamp()))
                 where id = $1 returning stamp
                """, cell)) {
            stamp = row.getOffsetDateTime("stamp");
        }
    }

    /** Ends the lease immediately, so that another replica need not wait for it. */
    public static void resign(SystemTransaction transaction, String cell, long epoch) {
        transaction.run("update cell set lease_until = '-infinity' where id = $1 and epoch = $2", cell, epoch);
    }

    public OffsetDateTime stamp() {
        return stamp;
    }

    public long stampMillis() {
        return stamp.toInstant().toEpochMilli();
    }

    /** The next number of the cell's one sequence: usage events, feed entries, revisions of nodes, counter batches. */
    public long nextSequence() {
        return ++sequence;
    }

    long sequence() {
        return sequence;
    }

    /** Stores the last number of the sequence. */
    public void saveSequence(SystemTransaction transaction, String cell) {
        transaction.send("update cell set sequence = $2 where id = $1", cell, sequence);
    }
}
