package io.quartermaster.workloads.counters;

import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.inbox.Wakeups;
import io.quartermaster.platform.redis.RedisScript;
import io.quartermaster.platform.redis.RedisScriptRunner;
import io.quartermaster.platform.redis.RedisScriptRunner.WrongKeyType;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The leader's publisher of the live counters in Redis. Each publication has the leader's epoch and a sequence number.
 * To apply one twice changes nothing. If one is missing (Redis was down or emptied, or another replica led), the
 * tenant's counters are replaced as a whole. Only the leader's thread calls it, after each commit and at each idle
 * tick. It never throws, and blocks for a limited time.
 */
@ApplicationScoped
public class LiveCounters {

    private static final Logger LOG = Logger.getLogger(LiveCounters.class);
    private static final RedisScript PUBLISH = RedisScript.named("publish");
    private static final RedisScript MARK = RedisScript.named("mark");
    /** Holds the epoch of the leader that rebuilt all counters. It is missing if Redis was emptied. */
    private static final String MARKER = Wakeups.CELL_KEYS + "counters";

    private static final Duration CALL_TIMEOUT = Duration.ofMillis(100);
    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);
    /** The most tenants whose counters one call replaces as a whole. */
    private static final int MAX_REPLACED_TENANTS = 100;
    /** The most ids kept for the time when Redis is back; the holds of further ones expire by themselves. */
    private static final int MAX_UNSETTLED = 20_000;

    private final RedisScriptRunner scripts;
    private final String marker;
    private final AtomicLong sequence = new AtomicLong();
    private final Map<TenantId, Long> sent = new HashMap<>();
    private final Map<TenantId, Map<UUID, List<UUID>>> unsettled = new HashMap<>();
    private SortedSet<TenantId> pending = new TreeSet<>();
    /**
     * Tenants whose keys in Redis hold data other than counters. PostgreSQL counts for these tenants; the other tenants
     * are not affected.
     */
    private final SortedSet<TenantId> spoiled = new TreeSet<>();

    private long publishedEpoch = -1;
    private boolean marked;
    private long checkedNanos;
    private long retriedNanos = System.nanoTime();

    @Inject
    LiveCounters(RedisScriptRunner scripts) {
        this(scripts, MARKER);
    }

    public LiveCounters(RedisScriptRunner scripts, String marker) {
        this.scripts = scripts;
        this.marker = marker;
    }

    /** The key of a tenant's counters. */
    public static String countersKey(TenantId tenant) {
        return "qm:{" + tenant + "}:counters";
    }

    /** The key of the holds of a queue. */
    public static String holdsKey(TenantId tenant, UUID queue) {
        return "qm:{" + tenant + "}:holds:" + queue;
    }

    /**
     * Publishes the totals that changed since the last call.
     *
     * @param epoch of the lease under which the caller leads
     * @param asOfMillis the stamp of the plan
     */
    public void publish(long epoch, long asOfMillis, LiveCounterTotals liveCounterTotals) {
        List<TenantCounters> changed = liveCounterTotals.drainChanges();
        changed.forEach(this::addUnsettled);
        try {
            if (epoch != publishedEpoch || checkLost(epoch)) {
                publishedEpoch = epoch;
                marked = false;
                pending = liveCounterTotals.tenants();
            }
            List<TenantCounters> batches = changed.stream()
                    .filter(c -> !pending.contains(c.tenant()) && !spoiled.contains(c.tenant()))
                    .toList();
            pending.addAll(sendAll("batch", epoch, asOfMillis, batches));
            List<TenantCounters> wholes = pending.stream()
                    .limit(MAX_REPLACED_TENANTS)
                    .map(liveCounterTotals::allCountersOf)
                    .toList();
            wholes.forEach(whole -> pending.remove(whole.tenant()));
            pending.addAll(sendAll("whole", epoch, asOfMillis, wholes));
            if (pending.isEmpty() && !marked) {
                mark(epoch);
            }
            retrySpoiled(epoch, asOfMillis, liveCounterTotals);
        } catch (RuntimeException e) {
            // The counters in Redis are a convenience: the plan is committed, and missing counters are replaced as a
            // whole later.
            LOG.debugf("the publication of live counters failed and will be repeated: %s", e.getMessage());
            pending = liveCounterTotals.tenants();
            marked = false;
        }
    }

    private void retrySpoiled(long epoch, long asOfMillis, LiveCounterTotals liveCounterTotals) {
        long now = System.nanoTime();
        if (!spoiled.isEmpty() && now - retriedNanos >= CHECK_INTERVAL.toNanos()) {
            retriedNanos = now;
            List<TenantCounters> wholes = spoiled.stream()
                    .limit(MAX_REPLACED_TENANTS)
                    .map(liveCounterTotals::allCountersOf)
                    .toList();
            wholes.forEach(whole -> spoiled.remove(whole.tenant()));
            pending.addAll(sendAll("whole", epoch, asOfMillis, wholes));
        }
    }

    /** @return tenants whose counters must be replaced as a whole */
    private List<TenantId> sendAll(String mode, long epoch, long asOfMillis, List<TenantCounters> all) {
        if (all.isEmpty()) {
            return List.of();
        }
        long number = sequence.incrementAndGet();
        List<Uni<String>> calls = new ArrayList<>();
        for (TenantCounters counters : all) {
            Long before = sent.put(counters.tenant(), number);
            calls.add(callPublish(mode, epoch, number, before, asOfMillis, counters));
        }
        List<String> answers =
                Uni.join().all(calls).andCollectFailures().await().atMost(CALL_TIMEOUT);
        List<TenantId> again = new ArrayList<>();
        for (int i = 0; i < answers.size(); i++) {
            TenantId tenant = all.get(i).tenant();
            switch (answers.get(i)) {
                case "ok", "same" -> unsettled.remove(tenant);
                case "spoiled" -> {
                    if (spoiled.add(tenant)) {
                        LOG.warnf(
                                "a key of tenant %s in Redis holds data other than counters; the tenant is counted in "
                                        + "PostgreSQL",
                                tenant);
                    }
                }
                case "gap", "away" -> again.add(tenant);
                case "deposed" -> LOG.warnf("a later leader publishes the counters of %s", tenant);
                default -> throw new IllegalStateException("the script in Redis returned " + answers.get(i));
            }
        }
        return again;
    }

    private Uni<String> callPublish(
            String mode, long epoch, long number, @Nullable Long before, long asOfMillis, TenantCounters counters) {
        Map<UUID, List<UUID>> settled = unsettled.getOrDefault(counters.tenant(), Map.of());
        List<String> keys = new ArrayList<>();
        keys.add(countersKey(counters.tenant()));
        List<String> arguments = new ArrayList<>(List.of(
                mode,
                Long.toString(epoch),
                Long.toString(number),
                before == null ? "" : Long.toString(before),
                Long.toString(asOfMillis),
                counters.active() ? "active" : "suspended",
                Integer.toString(counters.values().size())));
        counters.values().forEach((field, value) -> {
            arguments.add(field.key());
            arguments.add(Long.toString(value));
        });
        settled.forEach((queue, ids) -> {
            keys.add(holdsKey(counters.tenant(), queue));
            arguments.add(Integer.toString(ids.size()));
            ids.forEach(id -> arguments.add(id.toString()));
        });
        return scripts.run(PUBLISH, keys, arguments)
                .map(answer -> answer.toString())
                .onFailure(WrongKeyType.class)
                .recoverWithItem("spoiled")
                .onFailure()
                .recoverWithItem("away");
    }

    private void addUnsettled(TenantCounters counters) {
        Map<UUID, List<UUID>> kept = unsettled.computeIfAbsent(counters.tenant(), tenant -> new HashMap<>());
        int size = kept.values().stream().mapToInt(List::size).sum();
        for (Map.Entry<UUID, List<UUID>> entry : counters.settled().entrySet()) {
            if (size + entry.getValue().size() <= MAX_UNSETTLED) {
                kept.computeIfAbsent(entry.getKey(), queue -> new ArrayList<>()).addAll(entry.getValue());
                size += entry.getValue().size();
            }
        }
    }

    /** Whether Redis has lost the counters of this leader. It asks Redis about once a second. */
    private boolean checkLost(long epoch) {
        long now = System.nanoTime();
        if (!marked || now - checkedNanos < CHECK_INTERVAL.toNanos()) {
            return false;
        }
        checkedNanos = now;
        return !runMark("get", epoch).equals(Long.toString(epoch));
    }

    private void mark(long epoch) {
        runMark("set", epoch);
        marked = true;
        checkedNanos = System.nanoTime();
    }

    private String runMark(String what, long epoch) {
        return scripts.run(MARK, List.of(marker), List.of(what, Long.toString(epoch)))
                .map(answer -> answer == null ? "" : answer.toString())
                .await()
                .atMost(CALL_TIMEOUT);
    }
}
