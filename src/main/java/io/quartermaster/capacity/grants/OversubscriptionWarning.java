package io.quartermaster.capacity.grants;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.GpuAmount;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Warns when reservations exceed the capacity of a pool (a node may be down, or capacity oversold). They are not
 * refused.
 */
public final class OversubscriptionWarning {

    private OversubscriptionWarning() {}

    /**
     * The highest sum of the allotments' reservations at any moment of a time, overrides included; in thousandths of a
     * GPU.
     */
    public static long maxReserved(List<QuotaTerms> allotments, long fromMillis, long untilMillis) {
        SortedSet<Long> moments = new TreeSet<>(Set.of(fromMillis));
        for (QuotaTerms terms : allotments) {
            terms.override().ifPresent(override -> {
                override.fromMillis().ifPresent(moments::add);
                moments.add(override.untilMillis());
            });
        }
        return moments.tailSet(fromMillis).headSet(untilMillis).stream()
                .mapToLong(moment -> reservedAt(allotments, moment))
                .max()
                .orElse(0);
    }

    private static long reservedAt(List<QuotaTerms> allotments, long millis) {
        return allotments.stream()
                .mapToLong(terms -> terms.effectiveAt(millis).reservedGpuMilli())
                .sum();
    }

    /** The warnings of a grant in the pool; amounts in thousandths of a GPU. */
    public static List<String> warnings(String pool, long reservedGpuMilli, long upGpuMilli) {
        return reservedGpuMilli <= upGpuMilli
                ? List.of()
                : List.of("reservations in pool " + pool + " add up to " + GpuFormat.gpus(reservedGpuMilli)
                        + ", but only " + new GpuAmount(upGpuMilli) + (upGpuMilli == 1000 ? " is up" : " are up"));
    }
}
