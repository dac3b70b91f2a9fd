package io.quartermaster.ledger;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The rules of the ledger in the simplest form: for every tick, the state after all events up to it, with every
 * thousandth of every allocation counted one by one.
 */
final class TickModel {
    private static final class Life {
        final UsageEvent.Allocated allocated;
        long freedMillis = Long.MAX_VALUE;
        final Phase[] phases;

        Life(UsageEvent.Allocated allocated, int ticks) {
            this.allocated = allocated;
            phases = new Phase[ticks];
            Arrays.fill(phases, Phase.STARTING);
        }
    }

    /** The values that stay equal throughout a segment, and the segment's name except for its start. */
    private record Key(
            PoolKey pool, UsageClass usageClass, Optional<AllocationId> allocation, Optional<Standing> standing) {}

    private record Value(long gpuMilli, Optional<Segment.Held> held) {}

    private record Run(long fromMillis, Value value) {
        Segment segment(Key key, long toMillis) {
            return new Segment(
                    RandomHistory.TENANT,
                    key.pool(),
                    key.usageClass(),
                    value.held(),
                    value.gpuMilli(),
                    fromMillis,
                    toMillis);
        }
    }

    private final List<UsageEvent> events;
    private final int ticks;
    private final List<Life> lives = new ArrayList<>();

    TickModel(List<UsageEvent> events, int ticks) {
        this.events = events;
        this.ticks = ticks;
        for (UsageEvent event : events) {
            if (event instanceof UsageEvent.Allocated allocated) {
                lives.add(new Life(allocated, ticks));
            } else if (event instanceof UsageEvent.Freed freed) {
                life(freed.allocation()).freedMillis = freed.atMillis();
            } else if (event instanceof UsageEvent.PhaseChanged changed) {
                Life life = life(changed.allocation());
                for (int t = (int) changed.sinceMillis(); t < ticks; t++) {
                    life.phases[t] = changed.phase();
                }
            }
        }
        lives.sort((a, b) -> a.allocated.atMillis() != b.allocated.atMillis()
                ? Long.compare(a.allocated.atMillis(), b.allocated.atMillis())
                : a.allocated.allocation().compareTo(b.allocated.allocation()));
    }

    private Life life(AllocationId id) {
        return lives.stream()
                .filter(life -> life.allocated.allocation().equals(id))
                .findFirst()
                .orElseThrow();
    }

    /** All segments of the counted ticks, in {@link Segment#ORDER}. */
    List<Segment> segments() {
        List<Segment> segments = new ArrayList<>();
        Map<Key, Run> running = new LinkedHashMap<>();
        for (int t = 0; t <= ticks; t++) {
            Map<Key, Value> now = t == ticks ? Map.of() : tick(t);
            boolean fullHour = t % RandomHistory.HOUR == 0;
            for (Map.Entry<Key, Run> entry : List.copyOf(running.entrySet())) {
                Run run = entry.getValue();
                if (fullHour || !run.value().equals(now.get(entry.getKey()))) {
                    segments.add(run.segment(entry.getKey(), t));
                    running.remove(entry.getKey());
                }
            }
            for (Map.Entry<Key, Value> entry : now.entrySet()) {
                running.putIfAbsent(entry.getKey(), new Run(t, entry.getValue()));
            }
        }
        segments.sort(Segment.ORDER);
        return segments;
    }

    private Map<Key, Value> tick(int t) {
        Map<Key, Value> now = new LinkedHashMap<>();
        for (PoolKey pool : RandomHistory.POOLS) {
            long reserved = 0;
            long unmet = 0;
            Map<PolicyId, Long> policies = new TreeMap<>();
            for (UsageEvent event : events) {
                if (event.atMillis() > t) {
                    continue;
                }
                if (event instanceof UsageEvent.TenantReserved e && e.pool().equals(pool)) {
                    reserved = e.gpuMilli();
                } else if (event instanceof UsageEvent.Unmet e && e.pool().equals(pool)) {
                    unmet = e.gpuMilli();
                } else if (event instanceof UsageEvent.PolicyReserved e
                        && e.pool().equals(pool)) {
                    policies.put(e.policy(), e.gpuMilli());
                }
            }
            for (Life life : lives) {
                UsageEvent.Allocated a = life.allocated;
                if (!a.pool().equals(pool) || a.atMillis() > t || life.freedMillis <= t) {
                    continue;
                }
                PolicyId policy = a.marks().policy();
                for (long thousandth = 0; thousandth < a.gpuMilli(); thousandth++) {
                    UsageClass usageClass = reserved > 0 ? UsageClass.RESERVED : UsageClass.ON_DEMAND;
                    reserved = Math.max(0, reserved - 1);
                    long left = policies.getOrDefault(policy, 0L);
                    Standing standing = left > 0 ? Standing.WITHIN : Standing.OVER_QUOTA;
                    policies.put(policy, Math.max(0, left - 1));
                    count(
                            now,
                            pool,
                            usageClass,
                            Optional.of(new Segment.Held(a.allocation(), standing, life.phases[t], a.marks())),
                            1);
                }
            }
            count(now, pool, UsageClass.RESERVED_IDLE, Optional.empty(), reserved);
            count(now, pool, UsageClass.RESERVED_UNMET, Optional.empty(), unmet);
        }
        return now;
    }

    private static void count(
            Map<Key, Value> now, PoolKey pool, UsageClass usageClass, Optional<Segment.Held> held, long gpuMilli) {
        if (gpuMilli > 0) {
            Key key = new Key(pool, usageClass, held.map(Segment.Held::allocation), held.map(Segment.Held::standing));
            now.merge(key, new Value(gpuMilli, held), (a, b) -> new Value(a.gpuMilli() + b.gpuMilli(), held));
        }
    }
}
