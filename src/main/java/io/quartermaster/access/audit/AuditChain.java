package io.quartermaster.access.audit;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;

/** Verifies the hash chain of a tenant's audit entries, or of the operator's. */
public final class AuditChain {

    private static final int BATCH_SIZE = 2_000;
    private static final HexFormat HEX = HexFormat.of();

    /** The fault of an entry. */
    public enum Fault {
        /** The chain has no entry of this number. */
        MISSING,
        /** The entry names another hash than that of its predecessor. */
        UNLINKED,
        /** The content of the entry changed after it was sealed. */
        ALTERED
    }

    /**
     * The first faulty entry.
     *
     * @param number its position in the chain, from 1
     * @param entry the id of the entry at this position, or of the entry found instead
     */
    public record BrokenEntry(long number, UUID entry, Fault fault) {}

    private AuditChain() {}

    /**
     * The first break of the chain; empty when there is none. Reads the chain from its beginning in bounded batches.
     */
    public static Optional<BrokenEntry> verify(SystemTransaction transaction, TenantId tenant) {
        long number = 0;
        String hash = AuditSealer.HASH_BEFORE_FIRST;
        while (true) {
            int read = 0;
            for (Row row : transaction.run(
                    "select seq, prev_hash, hash, " + AuditSealer.COLUMNS
                            + " from audit_entry where tenant_id = $1 and seq > $2 order by seq limit $3",
                    tenant.value(),
                    number,
                    BATCH_SIZE)) {
                number++;
                read++;
                Optional<Fault> fault = findFault(row, tenant, number, hash);
                if (fault.isPresent()) {
                    return Optional.of(new BrokenEntry(number, row.getUUID("id"), fault.get()));
                }
                hash = hex(row, "hash");
            }
            if (read < BATCH_SIZE) {
                return Optional.empty();
            }
        }
    }

    /** The number of entries that have waited for the sealer longer than it ever takes. */
    public static long countOverdue(SystemTransaction transaction, TenantId tenant) {
        return transaction
                .run(
                        "select count(*) as entries from audit_entry where tenant_id = $1 and seq is null and at "
                                + "< clock_timestamp() - interval '10 minutes'",
                        tenant.value())
                .iterator()
                .next()
                .getLong("entries");
    }

    private static Optional<Fault> findFault(Row row, TenantId tenant, long number, String before) {
        if (row.getLong("seq") != number) {
            return Optional.of(Fault.MISSING);
        }
        if (!hex(row, "prev_hash").equals(before)) {
            return Optional.of(Fault.UNLINKED);
        }
        return hex(row, "hash").equals(AuditSealer.hash(tenant.value(), number, before, row))
                ? Optional.empty()
                : Optional.of(Fault.ALTERED);
    }

    private static String hex(Row row, String column) {
        return row.getBuffer(column) == null
                ? ""
                : HEX.formatHex(row.getBuffer(column).getBytes());
    }
}
