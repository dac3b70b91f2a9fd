package io.quartermaster.engine;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import java.time.DayOfWeek;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Random declared state of a small cell before any submission: settings, pools with their nodes, quotas, caps.
 */
final class RandomTerms {
    static final List<ProfileId> PROFILES = List.of(new ProfileId("p0"), new ProfileId("p1"));

    final Settings settings;
    final SortedMap<PoolId, Pool> pools = new TreeMap<>();
    final SortedMap<NodeId, Node> nodes = new TreeMap<>();
    final SortedMap<String, Quota> quotas = new TreeMap<>();
    final SortedMap<QuotaPath, ConcurrencyCaps> caps = new TreeMap<>();

    /** The paths to which work is submitted. */
    final List<QuotaPath> paths = new ArrayList<>();

    private final Random random;
    private final boolean lendsAll;

    private RandomTerms(Random random, Settings settings, boolean lendsAll) {
        this.random = random;
        this.settings = settings;
        this.lendsAll = lendsAll;
    }

    static RandomTerms of(Random random) {
        RandomTerms terms = new RandomTerms(random, randomSettings(random, chance(random, 4)), chance(random, 2));
        terms.randomPools();
        terms.randomQuotas();
        if (terms.chance(2)) {
            terms.randomCaps();
        }
        return terms;
    }

    /**
     * Terms without those through which each change affects all work: past use, caps, and amounts that are not lent.
     */
    static RandomTerms whichLeaveOthersAlone(Random random) {
        RandomTerms terms = new RandomTerms(random, randomSettings(random, false), true);
        terms.randomPools();
        terms.randomQuotas();
        return terms;
    }

    /** Terms with a grace and with backfill reservations. */
    static RandomTerms withGraceAndPatience(Random random) {
        Settings settings = randomSettings(random, false).toBuilder()
                .graceMillis(4_000)
                .patienceMillis(OptionalLong.of(1_000L * random.nextInt(6)))
                .settings();
        RandomTerms terms = new RandomTerms(random, settings, random.nextBoolean());
        terms.randomPools();
        terms.randomQuotas();
        return terms;
    }

    /** Terms with one counted pool, in which the reservations do not exceed the capacity. */
    static RandomTerms ofWholeUnits(Random random) {
        RandomTerms terms = new RandomTerms(random, Settings.DEFAULT, false);
        terms.countedPoolWithSoundReservations();
        return terms;
    }

    private boolean chance(int oneIn) {
        return chance(random, oneIn);
    }

    private static boolean chance(Random random, int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    private void countedPoolWithSoundReservations() {
        PoolId pool = new PoolId("pool");
        long left = 8 + random.nextInt(8);
        pools.put(pool, Pool.ofCount(pool, left * 1000));
        for (int t = 0; t < 1 + random.nextInt(3); t++) {
            long ofTenant = random.nextInt((int) left + 1);
            left -= ofTenant;
            put(reserving(QuotaPath.of("t" + t), pool, ofTenant));
            for (int g = 0; g < 1 + random.nextInt(3); g++) {
                long ofGroup = random.nextInt((int) ofTenant + 1);
                ofTenant -= ofGroup;
                QuotaPath path = QuotaPath.of("t" + t, "g" + g);
                paths.add(path);
                put(reserving(path, pool, ofGroup));
            }
        }
    }

    private Quota reserving(QuotaPath path, PoolId pool, long units) {
        return new Quota(
                path,
                Scope.of(pool),
                units * 1000,
                chance(3) ? OptionalLong.of((units + random.nextInt(4)) * 1000) : OptionalLong.empty(),
                OptionalLong.empty(),
                chance(3) ? OptionalLong.of(random.nextInt((int) units + 1) * 1000L) : OptionalLong.empty(),
                0,
                true);
    }

    private static Settings randomSettings(Random random, boolean pastCounts) {
        return Settings.DEFAULT.toBuilder()
                .minRuntimeMillis(chance(random, 4) ? 3_000 : 0)
                .reclaimMinRuntimeMillis(chance(random, 4) ? 5_000 : 0)
                .graceMillis(chance(random, 2) ? 0 : 4_000)
                .spill(chance(random, 2) ? Settings.Spill.BEFORE_PREEMPTING : Settings.Spill.AFTER_PREEMPTING)
                .borrow(chance(random, 2) ? Settings.Borrow.BEFORE_RECLAIMING : Settings.Borrow.AFTER_RECLAIMING)
                .consolidate(chance(random, 2))
                .reclaim(chance(random, 3) ? Settings.Reclaim.RESERVED : Settings.Reclaim.FAIR_SHARE)
                .patienceMillis(chance(random, 2) ? OptionalLong.of(1_000L * random.nextInt(6)) : OptionalLong.empty())
                .fairnessWindowMillis(pastCounts ? OptionalLong.of(20_000) : OptionalLong.empty())
                .staleGangGraceMillis(
                        chance(random, 2) ? OptionalLong.of(1_000L * random.nextInt(6)) : OptionalLong.empty())
                .entryPenaltyMillis(pastCounts && chance(random, 2) ? 5_000 : 0)
                .settings();
    }

    private void randomPools() {
        int count = 1 + random.nextInt(3);
        for (int p = 0; p < count; p++) {
            PoolId id = new PoolId("pool" + p);
            if (chance(4)) {
                pools.put(id, Pool.ofCount(id, 1000L * (1 + random.nextInt(12))));
            } else {
                Pool plain = Pool.ofNodes(id);
                pools.put(
                        id,
                        new Pool(
                                id,
                                plain.capacity(),
                                chance(3) ? Pool.Placement.SPREAD : Pool.Placement.PACK,
                                chance(4) ? Pool.Sharing.ANY : Pool.Sharing.TENANT,
                                chance(6) ? List.of(PROFILES.getLast()) : List.of(),
                                List.of("rack"),
                                true));
                int nodeCount = 1 + random.nextInt(4);
                int gpus = 1 + random.nextInt(4);
                for (int n = 0; n < nodeCount; n++) {
                    put(id, "n" + p + n, gpus, "rack" + n / 2);
                }
                if (chance(6)) {
                    nodes.computeIfPresent(new NodeId("n" + p + "0"), (key, node) -> node.onlyFor("t0"));
                }
            }
            if (chance(12)) {
                pools.computeIfPresent(id, (key, pool) -> pool.withoutExecutor());
            }
            if (chance(6)) {
                pools.computeIfPresent(id, (key, pool) -> pool.withHours(randomHours()));
            }
            if (chance(6)) {
                pools.computeIfPresent(
                        id, (key, pool) -> pool.waitingBeforePreempting(1000L * (1 + random.nextInt(5))));
            }
        }
    }

    /** Hours that open or close within the time of a random history. */
    private Hours randomHours() {
        return new Hours(
                ZoneOffset.ofTotalSeconds(random.nextInt(100) - 40),
                List.of(Hours.Span.between(DayOfWeek.THURSDAY, "00:00", "00:01")),
                chance(2) ? Hours.AtClose.GO_ON : Hours.AtClose.PREEMPT);
    }

    private void put(PoolId pool, String name, int gpus, String rack) {
        List<Node.Device> devices = new ArrayList<>();
        for (int index = 0; index < gpus; index++) {
            devices.add(new Node.Device(index, "H100", 81_920, true));
        }
        nodes.put(
                new NodeId(name),
                new Node(
                        new NodeId(name),
                        pool,
                        true,
                        true,
                        devices,
                        OptionalLong.empty(),
                        OptionalLong.empty(),
                        Collections.emptySortedMap(),
                        List.of(rack)));
    }

    private void randomQuotas() {
        boolean deep = chance(3);
        for (int t = 0; t < 1 + random.nextInt(3); t++) {
            QuotaPath tenant = QuotaPath.of("t" + t);
            int groups = random.nextInt(4);
            for (int g = 0; g < groups; g++) {
                QuotaPath group = QuotaPath.of("t" + t, "g" + g);
                int inner = deep && chance(2) ? 1 + random.nextInt(2) : 0;
                for (int h = 0; h < inner; h++) {
                    paths.add(QuotaPath.of("t" + t, "g" + g, "h" + h));
                }
                if (inner == 0 || chance(3)) {
                    paths.add(group);
                }
            }
            if (groups == 0 || chance(4)) {
                paths.add(tenant);
            }
        }
        boolean overAll = chance(4);
        for (PoolId pool : pools.keySet()) {
            if (!chance(6)) {
                randomQuotas(Scope.of(pool));
            }
        }
        if (overAll) {
            randomQuotas(Scope.ALL_POOLS);
        }
    }

    private void randomCaps() {
        for (QuotaPath path : paths) {
            if (chance(4)) {
                caps.put(
                        path,
                        new ConcurrencyCaps(
                                path,
                                chance(2) ? OptionalLong.of(1000L * random.nextInt(5)) : OptionalLong.empty(),
                                chance(2) ? OptionalInt.of(random.nextInt(4)) : OptionalInt.empty()));
            }
        }
    }

    /** Budgets of groups and tenants, in one pool or in all, with less than this number of GPU seconds. */
    List<Change> randomBudgets(Random chances, int mostSeconds) {
        List<Change> budgets = new ArrayList<>();
        for (QuotaPath path : paths) {
            if (chances.nextInt(3) == 0) {
                List<Scope> scopes = new ArrayList<>(List.of(Scope.ALL_POOLS));
                pools.keySet().forEach(pool -> scopes.add(Scope.of(pool)));
                budgets.add(new Change.BudgetSet(
                        chances.nextBoolean() ? path : QuotaPath.of(path.tenant()),
                        scopes.get(chances.nextInt(scopes.size())),
                        1_000_000L * chances.nextInt(mostSeconds),
                        0,
                        0,
                        settings.graceMillis()));
            }
        }
        return budgets;
    }

    private void randomQuotas(Scope scope) {
        for (QuotaPath path : paths) {
            for (QuotaPath prefix : path.fromTenant()) {
                Quota stated = randomQuota(prefix, scope);
                boolean implied = scope.equals(Scope.ALL_POOLS) && chance(3);
                put(implied ? Quota.implied(List.of(stated), prefix, scope) : stated);
            }
        }
    }

    void put(Quota quota) {
        quotas.put(quota.scope() + " " + quota.path(), quota);
    }

    Quota randomQuota(QuotaPath path, Scope scope) {
        long reserved = 1000L * random.nextInt(6);
        Quota quota = new Quota(
                path,
                scope,
                reserved,
                chance(3) ? OptionalLong.of(reserved + 1000L * random.nextInt(6)) : OptionalLong.empty(),
                chance(3) ? OptionalLong.of(1000L * random.nextInt(4)) : OptionalLong.empty(),
                !lendsAll && chance(4) ? OptionalLong.of(reserved / 2000 * 1000) : OptionalLong.empty(),
                chance(3) ? random.nextInt(3) : 0,
                !chance(6));
        Quota standing = chance(5) ? quota.fenced() : quota;
        Quota turning = chance(6) ? standing.withOverride(randomOverride()) : standing;
        return chance(6) ? turning.drainedBy(1000L * random.nextInt(60)) : turning;
    }

    /** An override that begins or ends within the time of a random history. */
    private Quota.Override randomOverride() {
        long from = 1000L * random.nextInt(40);
        long reserved = 1000L * random.nextInt(6);
        return new Quota.Override(
                OptionalLong.of(reserved),
                chance(2) ? OptionalLong.of(reserved + 1000L * random.nextInt(4)) : OptionalLong.empty(),
                chance(3) ? OptionalLong.empty() : OptionalLong.of(from),
                from + 1000L * (1 + random.nextInt(40)));
    }
}
