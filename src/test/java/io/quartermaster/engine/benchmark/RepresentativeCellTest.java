package io.quartermaster.engine.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.Scope;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The representative cell is what its report says, and small ones run through, so that the benchmark keeps working. */
class RepresentativeCellTest {
    private static final CellScale SMALL = new CellScale(10, 100, 3, 2, 2, 7);
    private static final CellScale TINY = new CellScale(6, 40, 2, 2, 2, 7);

    @Test
    void everyLevelReservesSixtyPercentOfEachPool() {
        List<Quota> quotas = new RepresentativeCell(SMALL, CellVariant.BASE)
                .base().stream()
                        .filter(Change.QuotaSet.class::isInstance)
                        .map(change -> ((Change.QuotaSet) change).quota())
                        .toList();
        for (int level = 1; level <= 3; level++) {
            int segments = level;
            assertThat(reserved(quotas, 0, quota -> quota.path().segments().size() == segments))
                    .isEqualTo(24_000);
            assertThat(reserved(quotas, 1, quota -> quota.path().segments().size() == segments))
                    .isEqualTo(14_000);
            assertThat(reserved(quotas, 2, quota -> quota.path().segments().size() == segments))
                    .isEqualTo(9_000);
        }
    }

    private static long reserved(List<Quota> quotas, int pool, Predicate<Quota> chosen) {
        Scope scope = Scope.of(RepresentativeCell.POOLS.get(pool));
        return quotas.stream()
                .filter(quota -> quota.scope().equals(scope))
                .filter(chosen)
                .mapToLong(Quota::reservedGpuMilli)
                .sum();
    }

    @Test
    void theSameSeedGivesTheSameCellAndArrivals() {
        RepresentativeCell first = new RepresentativeCell(SMALL, CellVariant.BASE);
        RepresentativeCell second = new RepresentativeCell(SMALL, CellVariant.BASE);
        assertThat(first.base()).isEqualTo(second.base());
        assertThat(first.queue()).isEqualTo(second.queue());
        assertThat(first.arrival(1)).isEqualTo(second.arrival(1));
    }

    @ParameterizedTest
    @EnumSource(CellVariant.class)
    void plansOfSmallCellsKeepTheRules(CellVariant variant) {
        Violations violations = new Violations();
        FilledCell cell = FilledCell.fill(new RepresentativeCell(TINY, variant), 1, violations, Long.MAX_VALUE);
        assertThat(cell.cost().isComplete()).isTrue();
        assertThat(cell.cost().starts()).isGreaterThan(10);
        for (int event = 0; event < 10; event++) {
            cell.nextEvent(Long.MAX_VALUE);
        }
        assertThat(violations.plans()).isGreaterThan(10);
        assertThat(violations.first()).isEmpty();
    }
}
