package io.quartermaster.dispatch.read;

import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;

/** The amounts that one worker of a waiting workload counts as in each of its pools. */
final class WaitingAmounts {
    private final Map<MemoryShare, Long> counts;

    private WaitingAmounts(Map<MemoryShare, Long> counts) {
        this.counts = counts;
    }

    /** Computes each share by memory once, for all workloads that request it. */
    static WaitingAmounts read(SystemTransaction transaction, List<Row> rows) {
        Set<MemoryShare> asked = new LinkedHashSet<>();
        rows.forEach(row -> asked.addAll(memoryShares(row)));
        Map<MemoryShare, Long> counts = new HashMap<>();
        if (!asked.isEmpty()) {
            transaction
                    .run(
                            "select pool, mib, devices, waiting_gpu_milli(pool, mib, devices) as gpu_milli"
                                    + " from unnest($1::uuid[], $2::bigint[], $3::int[]) as asked(pool, mib, devices)",
                            asked.stream().map(MemoryShare::pool).toArray(UUID[]::new),
                            asked.stream().map(MemoryShare::memoryMiB).toArray(Long[]::new),
                            asked.stream().map(MemoryShare::devices).toArray(Integer[]::new))
                    .forEach(row -> counts.put(
                            new MemoryShare(row.getUUID("pool"), row.getLong("mib"), row.getInteger("devices")),
                            row.getLong("gpu_milli")));
        }
        return new WaitingAmounts(counts);
    }

    /** The amount that one worker counts as while it waits, by pool in the order of the profile. */
    List<Long> of(Row row) {
        List<MemoryShare> shares = memoryShares(row);
        return shares.isEmpty()
                ? Collections.nCopies(row.getArrayOfUUIDs("pool_ids").length, row.getLong("gpu_milli"))
                : shares.stream()
                        .map(share -> Objects.requireNonNull(counts.get(share)))
                        .toList();
    }

    /** A share by memory in a pool. */
    private record MemoryShare(UUID pool, long memoryMiB, int devices) {}

    /** The shares by memory that a workload would hold, one per pool. */
    private static List<MemoryShare> memoryShares(Row row) {
        Long memoryMiB = row.getLong("gpu_memory_mib");
        return memoryMiB == null
                ? List.of()
                : Arrays.stream(row.getArrayOfUUIDs("pool_ids"))
                        .map(pool -> new MemoryShare(pool, memoryMiB, row.getInteger("gpu_devices")))
                        .toList();
    }
}
