package io.quartermaster.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;

/**
 * A random, valid history of one tenant over a few ticks: small amounts, few pools and policies, many events with equal
 * stamps. It has lives of length 0 and lost nodes, and closes hours in between, some of them late.
 */
public final class RandomHistory {
    /** The number of histories for each property. */
    public static final int COUNT = 2_500;

    public static final TenantKey TENANT = new TenantKey("tenant-a");
    public static final int HOUR = 10;
    public static final int TICKS = 60;
    public static final List<PoolKey> POOLS = List.of(new PoolKey("h100"), new PoolKey("l40"));
    public static final List<PolicyId> POLICIES =
            List.of(new PolicyId("policy-1"), new PolicyId("policy-2"), new PolicyId("policy-3"));

    public static final List<String> LABEL_KEYS = List.of("stage", "team");

    /** A step of a book: an event is applied, or hours are closed. */
    public sealed interface Step {
        record Take(UsageEvent event) implements Step {}

        record Close(long hourEndMillis) implements Step {}
    }

    private record Live(AllocationId id, long startMillis) {}

    public final List<Step> steps = new ArrayList<>();

    private final Random random;
    private final List<Live> live = new ArrayList<>();
    private long atMillis;
    private long seq;
    private long closedUntilMillis;
    private int allocations;

    public RandomHistory(long seed) {
        random = new Random(seed);
        int events = 1 + random.nextInt(60);
        for (int i = 0; i < events; i++) {
            long next = random.nextInt(3) == 0 ? atMillis + random.nextInt(8) : atMillis;
            atMillis = Math.min(next, TICKS);
            maybeClose();
            steps.add(new Step.Take(event()));
        }
    }

    public List<UsageEvent> events() {
        List<UsageEvent> events = new ArrayList<>();
        for (Step step : steps) {
            if (step instanceof Step.Take(UsageEvent event)) {
                events.add(event);
            }
        }
        return events;
    }

    private void maybeClose() {
        long lastEnd = atMillis - atMillis % HOUR;
        if (lastEnd > closedUntilMillis && random.nextInt(4) == 0) {
            long hours = (lastEnd - closedUntilMillis) / HOUR;
            closedUntilMillis += HOUR * (1 + random.nextLong(hours));
            steps.add(new Step.Close(closedUntilMillis));
        }
    }

    private UsageEvent event() {
        seq += 1 + random.nextInt(3);
        int kind = random.nextInt(10);
        if (kind < 4 || (live.isEmpty() && kind < 7)) {
            return allocated();
        }
        if (kind == 4) {
            Live gone = live.remove(random.nextInt(live.size()));
            return new UsageEvent.Freed(atMillis, seq, TENANT, gone.id());
        }
        if (kind < 7) {
            return phaseChanged();
        }
        if (kind == 7) {
            return new UsageEvent.PolicyReserved(atMillis, seq, TENANT, pick(POLICIES), pick(POOLS), random.nextInt(9));
        }
        if (kind == 8) {
            return new UsageEvent.TenantReserved(atMillis, seq, TENANT, pick(POOLS), random.nextInt(14));
        }
        return new UsageEvent.Unmet(atMillis, seq, TENANT, pick(POOLS), random.nextInt(3));
    }

    private UsageEvent allocated() {
        allocations++;
        // The ids do not follow the time, so the order of (start, id) is not the order of arrival.
        AllocationId id = new AllocationId("allocation-" + random.nextInt(90) + "-" + allocations);
        live.add(new Live(id, atMillis));
        AllocationMarks allocationMarks = marks(pick(POLICIES), "job-" + random.nextInt(5), labels());
        return new UsageEvent.Allocated(atMillis, seq, TENANT, id, pick(POOLS), 1 + random.nextInt(6), allocationMarks);
    }

    private UsageEvent phaseChanged() {
        Live holder = pick(live);
        Phase phase = pick(List.of(Phase.values()));
        if (!phase.mayReachBack()) {
            return new UsageEvent.PhaseChanged(atMillis, seq, TENANT, holder.id(), phase);
        }
        // The last contact, or the end of the processes, may be dated before the allocation. It must not be in closed
        // time in which the allocation has a part.
        long earliest = holder.startMillis() >= closedUntilMillis ? 0 : closedUntilMillis;
        long since = earliest + random.nextLong(atMillis - earliest + 1);
        return new UsageEvent.PhaseChanged(atMillis, seq, TENANT, holder.id(), phase, since);
    }

    private <T> T pick(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** The keys that are declared change from allocation to allocation. */
    private UsageLabels labels() {
        TreeMap<String, Optional<String>> values = new TreeMap<>();
        for (String key : LABEL_KEYS) {
            int kind = random.nextInt(4);
            if (kind > 0) {
                values.put(key, kind == 1 ? Optional.empty() : Optional.of("value-" + kind));
            }
        }
        return new UsageLabels(values);
    }

    public static AllocationMarks marks(PolicyId policy, String workload) {
        return marks(policy, workload, UsageLabels.NONE);
    }

    public static AllocationMarks marks(PolicyId policy, String workload, UsageLabels labels) {
        String group = "/research/" + policy.value();
        return new AllocationMarks(
                policy, group, "train", "train-" + policy, workload, workload + "-1", "ada", "c1", true, labels);
    }
}
