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

class TallyTest {

    private static final TenantId TENANT = new TenantId("tally-a");
    private static final UUID POOL = Ids.next();
    private static final UUID OTHER_POOL = Ids.next();
    private static final UUID QUEUE = Ids.next();
    private static final UUID RESEARCH = Ids.next();
    private static final UUID NLP = Ids.next();

    private final Tally tally = new Tally();

    private static Counted counted(UUID id, Counted.Place place) {
        return new Counted(TENANT, id, QUEUE, NLP, List.of(POOL, OTHER_POOL), List.of(2_000L, 500L), place);
    }

    private static Amount amount(Measure measure, Optional<UUID> policy) {
        return new Amount(measure, policy, POOL);
    }

    private void known() {
        tally.tenant(TENANT, true, Map.of(POOL, 3_000L));
        tally.policy(TENANT, RESEARCH, "/research", Map.of(POOL, 1_000L));
        tally.policy(TENANT, NLP, "/research/nlp", Map.of());
    }

    @Test
    void whatWaitsCountsInEachPoolItMayUse() {
        known();
        tally.workload(counted(Ids.next(), new Counted.Place.Queued()));
        assertThat(tally.whole(TENANT).values())
                .containsEntry(new Waiting(QUEUE), 1L)
                .containsEntry(amount(Measure.QUEUED, Optional.of(NLP)), 2_000L)
                .containsEntry(new Amount(Measure.QUEUED, Optional.of(NLP), OTHER_POOL), 500L)
                .doesNotContainKey(amount(Measure.USED, Optional.of(NLP)));
    }

    @Test
    void useIsSummedUpwardsAndSplitAtWhatIsReserved() {
        known();
        tally.workload(counted(Ids.next(), new Counted.Place.Holding(POOL, 2_000)));
        tally.workload(counted(Ids.next(), new Counted.Place.Holding(POOL, 2_000)));
        assertThat(tally.whole(TENANT).values())
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
        tally.workload(counted(id, new Counted.Place.Queued()));
        tally.changed();
        tally.workload(counted(id, new Counted.Place.Queued()));
        known();
        assertThat(tally.changed()).isEmpty();
    }

    @Test
    void whatCameToNothingIsToldAsZeroOnce() {
        known();
        UUID id = Ids.next();
        tally.workload(counted(id, new Counted.Place.Queued()));
        tally.changed();
        tally.workload(counted(id, new Counted.Place.Over()));
        assertThat(tally.changed()).singleElement().satisfies(counters -> assertThat(counters.values())
                .containsEntry(new Waiting(QUEUE), 0L));
        assertThat(tally.whole(TENANT).values()).isEmpty();
        assertThat(tally.changed()).isEmpty();
    }

    @Test
    void aNewWorkloadIsSettledOnceEvenIfItIsOverAtFirstSight() {
        known();
        UUID waits = Ids.next();
        UUID over = Ids.next();
        tally.workload(counted(waits, new Counted.Place.Queued()));
        tally.workload(counted(over, new Counted.Place.Over()));
        assertThat(tally.changed().getFirst().settled()).containsEntry(QUEUE, List.of(waits, over));
        tally.workload(counted(waits, new Counted.Place.Holding(POOL, 2_000)));
        assertThat(tally.changed().getFirst().settled()).isEmpty();
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
            Counted.Place place =
                    switch (random.nextInt(3)) {
                        case 0 -> new Counted.Place.Queued();
                        case 1 ->
                            new Counted.Place.Holding(
                                    random.nextBoolean() ? POOL : OTHER_POOL, 1 + random.nextInt(5_000));
                        default -> new Counted.Place.Over();
                    };
            tally.workload(counted(ids.get(random.nextInt(ids.size())), place));
            if (random.nextInt(10) == 0) {
                tally.changed().forEach(counters -> added.putAll(counters.values()));
                added.values().removeIf(value -> value == 0);
                assertThat(added)
                        .as("seed %d", seed)
                        .isEqualTo(tally.whole(TENANT).values());
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
