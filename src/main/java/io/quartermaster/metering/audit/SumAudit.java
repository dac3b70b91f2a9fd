package io.quartermaster.metering.audit;

import io.quartermaster.ledger.TenantKey;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.List;

/** Compares the sums of a closed hour with its segments; shares no code with the closing. */
final class SumAudit {

    /** A sum that its hour's segments do not give. */
    record Difference(String subject, long expected, long found) {}

    private static final String SUMS = """
            select concat_ws(' ', pool, class, standing, group_path, queue, submitted_by) as subject,
                   cast(sum(counted) as bigint) as counted, cast(sum(kept) as bigint) as kept
              from (select pool, class, standing, group_path, queue, submitted_by,
                           gpu_milli * (to_ms - from_ms) as counted, 0 as kept
                      from segment where tenant_id = $1 and hour_ms = $2
                    union all
                    select pool, class, standing, group_path, queue, submitted_by, 0, gpu_milli_ms
                      from usage_hour where tenant_id = $1 and hour_ms = $2) both_sides
             where exists (select 1 from closed_hour where tenant_id = $1 and hour_ms = $2 and summed)
             group by pool, class, standing, group_path, queue, submitted_by
            having sum(counted) <> sum(kept) order by 1
            """;

    private static final String LABEL_SUMS = """
            select concat_ws(' ', pool, class, standing, group_path, queue, submitted_by, 'label',
                       label_key || coalesce('=' || label_value, ' unset')) as subject,
                   cast(sum(counted) as bigint) as counted, cast(sum(kept) as bigint) as kept
              from (select l.key as label_key, l.value as label_value, pool, class, standing, group_path,
                           queue, submitted_by, gpu_milli * (to_ms - from_ms) as counted, 0 as kept
                      from segment cross join lateral jsonb_each_text(labels) l
                     where tenant_id = $1 and hour_ms = $2
                    union all
                    select label_key, label_value, pool, class, standing, group_path, queue, submitted_by,
                           0, gpu_milli_ms
                      from usage_label_hour where tenant_id = $1 and hour_ms = $2) both_sides
             where exists (select 1 from closed_hour where tenant_id = $1 and hour_ms = $2 and summed)
             group by label_key, label_value, pool, class, standing, group_path, queue, submitted_by
            having sum(counted) <> sum(kept) order by 1
            """;

    private SumAudit() {}

    /** The differences of an hour; none if the hour has no sums yet. */
    static List<Difference> differences(SystemTransaction tx, TenantKey tenant, long hourEndMillis) {
        List<Difference> found = new ArrayList<>();
        for (String sums : List.of(SUMS, LABEL_SUMS)) {
            for (Row row : tx.run(sums, tenant.value(), hourEndMillis)) {
                found.add(new Difference(row.getString("subject"), row.getLong("counted"), row.getLong("kept")));
            }
        }
        return found;
    }
}
