package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.testing.RandomCases;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An explanation does not reveal the waiting work of other tenants, over random cells. A failure names its seed. */
@Tag("properties")
class OtherTenantsPropertiesTest {
    private static final int MOST_PLANS = 30;
    private static final int EVENTS_BETWEEN = 3;
    private static final int MOST_WAITS = 2;

    @Test
    void anExplanationIsTheSameWhateverOtherTenantsWaitFor() {
        AtomicInteger compared = new AtomicInteger();
        AtomicInteger withoutAmount = new AtomicInteger();
        RandomCells.forEach(85, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 1; event <= RandomCells.EVENTS; event++) {
                cell.happen();
                if (event % EVENTS_BETWEEN == 0 && cell.settle(MOST_PLANS)) {
                    compare(cell, judged, compared, withoutAmount);
                }
            }
        });
        RandomCells.requireHappened(200, compared.get(), "explanations compared");
        RandomCells.requireHappened(1, withoutAmount.get(), "amounts left out");
    }

    private static void compare(
            RandomCell cell, RandomCases.Judged judged, AtomicInteger compared, AtomicInteger withoutAmount) {
        for (String tenant : cell.workloads.values().stream()
                .map(workload -> workload.path().tenant())
                .distinct()
                .toList()) {
            Engine alone = withoutWaitingWorkOfOthers(cell, tenant);
            // If the tenant's own work starts once others do not wait, the states of the two cells differ.
            if (alone.plan(cell.nowMillis).decisions().isEmpty()) {
                List<WaitReasons> waits = cell.engine.waits().stream()
                        .filter(waitReasons -> cell.workload(waitReasons.workload())
                                .path()
                                .tenant()
                                .equals(tenant))
                        .limit(MOST_WAITS)
                        .toList();
                for (WaitReasons waitReasons : waits) {
                    judged.check();
                    compared.incrementAndGet();
                    assertThat(alone.explain(waitReasons.workload()))
                            .as("reasons of %s", waitReasons.workload())
                            .hasValue(waitReasons);
                    Optional<Outlook> here = cell.engine.outlook(waitReasons.workload(), cell.nowMillis);
                    Optional<Outlook> there = alone.outlook(waitReasons.workload(), cell.nowMillis);
                    assertThat(here.isPresent()).isEqualTo(there.isPresent());
                    if (here.isPresent()) {
                        compare(here.get(), there.get(), withoutAmount);
                    }
                }
            }
        }
    }

    private static Engine withoutWaitingWorkOfOthers(RandomCell cell, String tenant) {
        Engine alone = cell.engine.fork();
        for (Workload workload : cell.workloads.values()) {
            if (!workload.path().tenant().equals(tenant)
                    && workload.state() instanceof WorkloadPhase.Waiting
                    && workload.nomination().isEmpty()) {
                alone.apply(List.of(new Change.WorkloadRemoved(workload.id())));
            }
        }
        return alone;
    }

    private static void compare(Outlook here, Outlook there, AtomicInteger withoutAmount) {
        assertThat(here.position()).isEqualTo(there.position());
        assertThat(here.behind()).isEqualTo(there.behind());
        for (int i = 0; i < here.perPool().size(); i++) {
            Outlook.InPool mine = here.perPool().get(i);
            Outlook.InPool other = there.perPool().get(i);
            assertThat(mine.holders()).isEqualTo(other.holders());
            assertThat(mine.heldByOthersGpuMilli()).isEqualTo(other.heldByOthersGpuMilli());
            assertThat(mine.startsAtMillis()).isEqualTo(other.startsAtMillis());
            assertThat(mine.preemptsFromMillis()).isEqualTo(other.preemptsFromMillis());
            boolean amountless = isWithoutAmount(mine) || isWithoutAmount(other);
            withoutAmount.addAndGet(amountless ? 1 : 0);
            boolean nothingNamed = mine.relief().isEmpty() || other.relief().isEmpty();
            if (!nothingNamed && amountless) {
                assertThat(withoutRoom(mine.relief())).isEqualTo(withoutRoom(other.relief()));
            } else if (!nothingNamed) {
                assertThat(mine.relief()).isEqualTo(other.relief());
            }
        }
    }

    private static boolean isWithoutAmount(Outlook.InPool pool) {
        return pool.relief().stream().anyMatch(isRoom().and(relief -> relief.gpuMilli() == 0));
    }

    private static Predicate<Outlook.Relief> isRoom() {
        return relief -> relief.kind() == Outlook.Relief.Kind.FREE_IN_POOL
                || relief.kind() == Outlook.Relief.Kind.FREE_ON_ONE_NODE;
    }

    private static List<Outlook.Relief> withoutRoom(List<Outlook.Relief> relief) {
        List<Outlook.Relief> rest = new ArrayList<>(relief);
        rest.removeIf(isRoom());
        return rest;
    }
}
