package io.quartermaster.capacity.grants;

import io.quartermaster.capacity.inventory.RowValues;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the reserved amounts in a pool, over all tenants. */
final class ReservedAmounts {

    private ReservedAmounts() {}

    /** The reserved amounts of all other tenants in a pool, and when they change; no other part of their terms. */
    static Uni<List<QuotaTerms>> reservedByOthers(SqlConnection connection, UUID pool, String tenant, Instant now) {
        return connection
                .preparedQuery(
                        "select reserved_milli, override_reserved_milli, override_from, override_until from allotment"
                                + " where pool_id = $1 and tenant_id <> $2")
                .execute(Tuple.of(pool, tenant))
                .map(rows -> RowValues.list(rows, row -> reserved(row, now)));
    }

    private static QuotaTerms reserved(Row row, Instant now) {
        QuotaTerms base = QuotaTerms.reserving(row.getLong("reserved_milli"));
        Long other = row.getLong("override_reserved_milli");
        return other == null
                ? base
                : QuotaOverrideApi.stored(
                                other,
                                null,
                                instant(row.getOffsetDateTime("override_from")),
                                instant(row.getOffsetDateTime("override_until")),
                                now)
                        .map(base::withOverride)
                        .orElse(base);
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }

    /** The highest sum of allotments and other windows of tenants while a window is open, in thousandths of a GPU. */
    static Uni<Long> reservedByOthersDuring(SqlConnection connection, CapacityReservation window, Instant now) {
        return connection
                .preparedQuery("""
                        select coalesce(sum(gpu_milli), 0)::bigint from capacity_reservation
                         where pool_id = $1 and policy_id is null and id <> $2 and starts_at < $4 and ends_at > $3
                        """)
                .execute(Tuple.of(
                        window.pool(),
                        window.id(),
                        window.startsAt().atOffset(ZoneOffset.UTC),
                        window.endsAt().atOffset(ZoneOffset.UTC)))
                .map(rows -> rows.iterator().next().getLong(0))
                .chain(windows -> reservedByOthers(connection, window.pool(), "", now)
                        .map(allotments -> windows
                                + OversubscriptionWarning.maxReserved(
                                        allotments,
                                        window.startsAt().toEpochMilli(),
                                        window.endsAt().toEpochMilli())));
    }
}
