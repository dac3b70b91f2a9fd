package io.quartermaster.access.audit;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;

/** Verifies the hash chain of a tenant's audit entries, or of the operator's. */
public final class AuditChain {

    private static final int ENTRIES_AT_ONCE = 2_000;
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
    public record Broken(long number, UUID entry, Fault fault) {}

    private AuditChain() {}

    /**
     * The first break of the chain; empty when there is none. Reads the chain from its beginning in bounded batches.
     */
    public static Optional<Broken> verify(SystemTransaction transaction, TenantId tenant) {
        long number = 0;
        String hash = AuditSealer.NOTHING_BEFORE;
        while (true) {
            int read = 0;
            for (Row row : transaction.run(
                    "select seq, prev_hash, hash, " + AuditSealer.COLUMNS
                            + " from audit_entry where tenant_id = $1 and seq > $2 order by seq limit $3",
                    tenant.value(),
                    number,
                    ENTRIES_AT_ONCE)) {
                number++;
                read++;
                Optional<Fault> fault = fault(row, tenant, number, hash);
                if (fault.isPresent()) {
                    return Optional.of(new Broken(number, row.getUUID("id"), fault.get()));
                }
                hash = hex(row, "hash");
            }
            if (read < ENTRIES_AT_ONCE) {
                return Optional.empty();
            }
        }
    }

    /** The number of entries that have waited for the sealer longer than it ever takes. */
    public static long unsealed(SystemTransaction transaction, TenantId tenant) {
        return transaction
                .run(
                        "select count(*) as entries from audit_entry where tenant_id = $1 and seq is null and at "
                                + "< clock_timestamp() - interval '10 minutes'",
                        tenant.value())
                .iterator()
                .next()
                .getLong("entries");
    }

    private static Optional<Fault> fault(Row row, TenantId tenant, long number, String before) {
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
