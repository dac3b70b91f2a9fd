package io.quartermaster.dispatch.read;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.mutiny.sqlclient.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;

/**
 * The stored past use of every path, beside the cell. With a fairness window, the next leader continues from it.
 * Between two changes of a path's held amount its average follows from its row. So a row is written only on such a
 * change, or when an entry penalty is added.
 */
public final class UsageHistoryStore {

    private static final String ALL_POOLS = Scope.ALL_POOLS.toString();

    private record Key(Scope scope, QuotaPath path) {

        static Key of(Change.PastUseSet entry) {
            return new Key(entry.scope(), entry.path());
        }
    }

    /** The held amount in each row. */
    private final Map<Key, Long> stored = new HashMap<>();

    /** Reads the stored entries for an engine. They may be old: the engine advances them to its first plan. */
    static List<Change.PastUseSet> read(SystemTransaction transaction, String cell) {
        List<Change.PastUseSet> entries = new ArrayList<>();
        for (Row row : transaction.run("select * from past_use where cell_id = $1 order by scope, path", cell)) {
            String scope = row.getString("scope");
            entries.add(new Change.PastUseSet(
                    QuotaPath.parse(row.getString("path")),
                    scope.equals(ALL_POOLS) ? Scope.ALL_POOLS : Scope.of(new PoolId(scope)),
                    row.getLong("average_gpu_nano"),
                    row.getLong("held_gpu_milli"),
                    row.getLong("as_of_ms")));
        }
        return entries;
    }

    /** Begins with the entries that a new leader read. */
    public void load(List<Change.PastUseSet> entries) {
        entries.forEach(entry -> stored.put(Key.of(entry), entry.heldGpuMilli()));
    }

    /**
     * Writes the changed rows. Without a fairness window it deletes the rows of an earlier one.
     *
     * @param raised the paths whose past use rose by more than follows from their rows
     */
    public void write(
            SystemTransaction transaction, String cell, List<Change.PastUseSet> now, SortedSet<QuotaPath> raised) {
        Set<Key> known = new HashSet<>();
        JsonArray changed = new JsonArray();
        for (Change.PastUseSet entry : now) {
            Key key = Key.of(entry);
            known.add(key);
            Long before = stored.put(key, entry.heldGpuMilli());
            if (before == null || before != entry.heldGpuMilli() || raised.contains(entry.path())) {
                changed.add(row(key).put("average_gpu_nano", entry.averageGpuNano())
                        .put("held_gpu_milli", entry.heldGpuMilli())
                        .put("as_of_ms", entry.asOfMillis()));
            }
        }
        JsonArray gone = new JsonArray();
        stored.keySet().stream().filter(key -> !known.contains(key)).forEach(key -> gone.add(row(key)));
        stored.keySet().retainAll(known);
        if (!changed.isEmpty()) {
            transaction.send("""
                    insert into past_use (cell_id, scope, path, average_gpu_nano, held_gpu_milli, as_of_ms)
                    select $2, scope, path, average_gpu_nano, held_gpu_milli, as_of_ms
                      from jsonb_to_recordset($1) as x(scope text, path text, average_gpu_nano bigint,
                          held_gpu_milli bigint, as_of_ms bigint)
                    on conflict (cell_id, scope, path) do update
                       set average_gpu_nano = excluded.average_gpu_nano, held_gpu_milli = excluded.held_gpu_milli,
                           as_of_ms = excluded.as_of_ms
                    """, changed, cell);
        }
        if (!gone.isEmpty()) {
            transaction.send("""
                    delete from past_use p using jsonb_to_recordset($1) as x(scope text, path text)
                     where p.cell_id = $2 and p.scope = x.scope and p.path = x.path
                    """, gone, cell);
        }
    }

    private static JsonObject row(Key key) {
        return new JsonObject()
                .put("scope", key.scope().toString())
                .put("path", key.path().toString());
    }
}
