package io.quartermaster.workloads.counters;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.counters.CounterField.Amount;
import io.quartermaster.workloads.counters.CounterField.Measure;
import io.quartermaster.workloads.counters.CounterField.Waiting;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class LiveCounterTotalsTest {

    private static final TenantId TENANT = new TenantId("tally-a");
    private static final UUID POOL = Ids.next();
    private static final UUID OTHER_POOL = Ids.next();
    private static final UUID QUEUE = Ids.next();
    private static final UUID RESEARCH = Ids.next();
    private static final UUID NLP = Ids.next();

    private final LiveCounterTotals liveCounterTotals = new LiveCounterTotals();

    private static CountedWorkload counted(UUID id, CountedWorkload.Place place) {
        return new CountedWorkload(TENANT, id, QUEUE, NLP, List.of(POOL, OTHER_POOL), List.of(2_000L, 500L), place);
    }

    private static Amount amount(Measure measure, Optional<UUID> policy) {
        return new Amount(measure, policy, POOL);
    }

    private void known() {
        liveCounterTotals.setTenant(TENANT, true, Map.of(POOL, 3_000L));
        liveCounterTotals.setPolicy(TENANT, RESEARCH, "/research", Map.of(POOL, 1_000L));
        liveCounterTotals.setPolicy(TENANT, NLP, "/research/nlp", Map.of());
    }

    @Test
    void whatWaitsCountsInEachPoolItMayUse() {
        known();
        liveCounterTotals.setWorkload(counted(Ids.next(), new CountedWorkload.Place.Queued()));
        assertThat(liveCounterTotals.allCountersOf(TENANT).values())
                .containsEntry(new Waiting(QUEUE), 1L)
                .containsEntry(amount(Measure.QUEUED, Optional.of(NLP)), 2_000L)
                .containsEntry(new Amount(Measure.QUEUED, Optional.of(NLP), OTHER_POOL), 500L)
                .doesNotContainKey(amount(Measure.USED, Optional.of(NLP)));
    }

    @Test
    void useIsSummedUpwardsAndSplitAtWhatIsReserved() {
        known();
        liveCounterTotals.setWorkload(counted(Ids.next(), new CountedWorkload.Place.Holding(POOL, 2_000)));
        liveCounterTotals.setWorkload(counted(Ids.next(), new CountedWorkload.Place.Holding(POOL, 2_000)));
        assertThat(liveCounterTotals.allCountersOf(TENANT).values())
                .containsEntry(amount(Measure.USED, Optional.empty()), 4_000L)
                .containsEntry(amount(Measure.RESERVED_USED, Optional.empty()), 3_000L)
                .containsEntry(amount(Measure.OVER_QUOTA, Optional.empty()), 1_000L)
                .containsEntry(amount(Measure.RESERVED_USED, Optional.of(RESEARCH)), 1_000L)
                .containsEntry(amount(Measure.OVER_QUOTA, Optional.of(RESEARCH)), 3_000L)
                .containsEntry(amount(Measure.OVER_QUOTA, Optional.of(NLP)), 4_000L)
                .doesNotContainKey(amount(Measure.RESERVED_USED, Optional.of(NLP)));
    }

    @Test
    void tellingTheSameAgainChangesNothing() {
        known();
        UUID id = Ids.next();
        liveCounterTotals.setWorkload(counted(id, new CountedWorkload.Place.Queued()));
        liveCounterTotals.drainChanges();
        liveCounterTotals.setWorkload(counted(id, new CountedWorkload.Place.Queued()));
        known();
        assertThat(liveCounterTotals.drainChanges()).isEmpty();
    }

    @Test
    void whatCameToNothingIsToldAsZeroOnce() {
        known();
        UUID id = Ids.next();
        liveCounterTotals.setWorkload(counted(id, new CountedWorkload.Place.Queued()));
        liveCounterTotals.drainChanges();
        liveCounterTotals.setWorkload(counted(id, new CountedWorkload.Place.Over()));
        assertThat(liveCounterTotals.drainChanges()).singleElement().satisfies(counters -> assertThat(counters.values())
                .containsEntry(new Waiting(QUEUE), 0L));
        assertThat(liveCounterTotals.allCountersOf(TENANT).values()).isEmpty();
        assertThat(liveCounterTotals.drainChanges()).isEmpty();
    }

    @Test
    void aNewWorkloadIsSettledOnceEvenIfItIsOverAtFirstSight() {
        known();
        UUID waits = Ids.next();
        UUID over = Ids.next();
        liveCounterTotals.setWorkload(counted(waits, new CountedWorkload.Place.Queued()));
        liveCounterTotals.setWorkload(counted(over, new CountedWorkload.Place.Over()));
        assertThat(liveCounterTotals.drainChanges().getFirst().settled()).containsEntry(QUEUE, List.of(waits, over));
        liveCounterTotals.setWorkload(counted(waits, new CountedWorkload.Place.Holding(POOL, 2_000)));
        assertThat(liveCounterTotals.drainChanges().getFirst().settled()).isEmpty();
    }

    @Test
    void changesAddedUpAreTheWhole() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        List<UUID> ids = List.of(Ids.next(), Ids.next(), Ids.next(), Ids.next());
        Map<CounterField, Long> added = new TreeMap<>();
        for (int i = 0; i < 2_000; i++) {
            known();
            CountedWorkload.Place place =
                    switch (random.nextInt(3)) {
                        case 0 -> new CountedWorkload.Place.Queued();
                        case 1 ->
                            new CountedWorkload.Place.Holding(
                                    random.nextBoolean() ? POOL : OTHER_POOL, 1 + random.nextInt(5_000));
                        default -> new CountedWorkload.Place.Over();
                    };
            liveCounterTotals.setWorkload(counted(ids.get(random.nextInt(ids.size())), place));
            if (random.nextInt(10) == 0) {
                liveCounterTotals.drainChanges().forEach(counters -> added.putAll(counters.values()));
                added.values().removeIf(value -> value == 0);
                assertThat(added)
                        .as("seed %d", seed)
                        .isEqualTo(liveCounterTotals.allCountersOf(TENANT).values());
            }
        }
    }

    @Test
    void everyCounterReadsBackFromItsKey() {
        List<CounterField> fields = List.of(
                new Waiting(QUEUE),
                amount(Measure.QUEUED, Optional.empty()),
                amount(Measure.OVER_QUOTA, Optional.of(NLP)));
        assertThat(fields)
                .allSatisfy(field -> assertThat(CounterField.parse(field.key())).contains(field));
        assertThat(CounterField.parse("epoch")).isEmpty();
    }
}
