package io.quartermaster.capacity.grants;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.GpuAmount;
import java.util.List;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;

/** Reservations may add up to more than there is (a node may be down, or capacity oversold): said, not refused. */
public final class OversubscriptionWarning {

    private OversubscriptionWarning() {}

    /** The most that allotments reserve together at any moment of a time, overrides counted; in thousandths of a GPU. */
    public static long mostReserved(List<QuotaTerms> allotments, long fromMillis, long untilMillis) {
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
                .mapToLong(terms -> terms.standingAt(millis).reservedGpuMilli())
                .sum();
    }

    /** What to tell whoever grants a part of the pool; amounts in thousandths of a GPU. */
    public static List<String> warnings(String pool, long reservedGpuMilli, long upGpuMilli) {
        return reservedGpuMilli <= upGpuMilli
                ? List.of()
                : List.of("reservations in pool " + pool + " add up to " + GpuFormat.gpus(reservedGpuMilli) + ", and "
                        + new GpuAmount(upGpuMilli) + (upGpuMilli == 1000 ? " is up" : " are up"));
    }
}
