package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.time.DayOfWeek;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;

/**
 * Cell that resembles a provider's: three pools of different GPU models, in racks; tenants with groups and subgroups,
 * which together reserve 60 % of each pool; and demand that a few subgroups dominate (Zipf's law). The same scale,
 * variant and seed give the same cell and the same arrivals.
 */
final class RepresentativeCell {
    /** A Monday, 10:00 UTC, so that pools with hours are open. */
    static final long BEGIN_MILLIS = Instant.parse("2026-03-02T10:00:00Z").toEpochMilli();

    static final int GPUS_PER_NODE = 8;
    static final String RACK = "rack";
    private static final int NODES_PER_RACK = 16;
    private static final int NODES_PER_BLOCK = 128;
    private static final long CORES_PER_NODE_MILLI = 128_000;
    private static final long MEMORY_PER_NODE_MIB = 1_536 * 1_024L;
    private static final long HOUR_MILLIS = 3_600_000;
    private static final double RESERVED = 0.6;
    private static final int PROFILES_PER_SUBGROUP = 6;

    static final List<PoolId> POOLS = List.of(new PoolId("h100"), new PoolId("a100"), new PoolId("l40s"));
    private static final List<Node.Device> MODELS = List.of(
            new Node.Device(0, "H100", 81_920, false),
            new Node.Device(0, "A100", 81_920, false),
            new Node.Device(0, "L40S", 49_152, false));
    /** Each pool's part of the nodes, in percent. */
    private static final int[] PARTS_OF_NODES = {50, 30, 20};

    private static final int[] PRIORITIES = {20, 50, 50, 50, 50, 50, 50, 80, 20, 50};

    /** A kind of request with its frequency. */
    private record Kind(Shape shape, int frequency) {}

    /** What a subgroup submits with: a shape and its pools. */
    private record Profile(ProfileId id, Shape shape, List<PoolId> pools) {}

    private record Subgroup(QuotaPath path, List<Profile> profiles) {}

    private final CellScale scale;
    private final CellVariant variant;
    private final List<Kind> kinds;
    private final List<Subgroup> subgroups = new ArrayList<>();
    private final double[] zipf;
    private final Random arrivals;
    private int submitted;

    RepresentativeCell(CellScale scale, CellVariant variant) {
        this.scale = scale;
        this.variant = variant;
        this.kinds = kinds(variant != CellVariant.WITHOUT_PARTS);
        Random random = new Random(scale.seed());
        for (QuotaPath path : leafPaths()) {
            subgroups.add(new Subgroup(path, profiles(path, random)));
        }
        Collections.shuffle(subgroups, random);
        zipf = new double[subgroups.size()];
        double sum = 0;
        for (int rank = 0; rank < zipf.length; rank++) {
            sum += 1.0 / (rank + 1);
            zipf[rank] = sum;
        }
        arrivals = new Random(scale.seed() + 1);
    }

    private static List<Kind> kinds(boolean parts) {
        List<Kind> kinds = new ArrayList<>();
        int[] milli = {100, 200, 250, 300, 500, 700};
        int[] frequency = {4, 5, 6, 3, 7, 4};
        for (int i = 0; i < milli.length; i++) {
            GpuRequest part = parts ? new GpuRequest.Fraction(1, milli[i]) : GpuRequest.whole(1);
            kinds.add(new Kind(shape(1, part, 2_000, 16, Optional.empty(), Optional.empty()), frequency[i]));
        }
        kinds.add(new Kind(single(1, 4_000, 64), 14));
        kinds.add(new Kind(single(1, 12_000, 160), 14));
        kinds.add(new Kind(single(1, 28_000, 96), 4));
        kinds.add(new Kind(single(2, 8_000, 128), 7));
        kinds.add(new Kind(single(2, 24_000, 320), 5));
        kinds.add(new Kind(single(4, 32_000, 512), 7));
        kinds.add(new Kind(single(4, 56_000, 640), 3));
        kinds.add(new Kind(single(8, 96_000, 1_024), 7));
        kinds.add(new Kind(gang(2, Optional.empty(), Optional.of(RACK)), 3));
        kinds.add(new Kind(gang(4, Optional.empty(), Optional.empty()), 2));
        kinds.add(new Kind(gang(4, Optional.of(RACK), Optional.empty()), 2));
        kinds.add(new Kind(gang(8, Optional.empty(), Optional.of(RACK)), 1));
        kinds.add(new Kind(gang(8, Optional.of(RACK), Optional.empty()), 1));
        return kinds;
    }

    private static Shape single(int gpus, long cpuMilli, long memoryGiB) {
        return shape(1, GpuRequest.whole(gpus), cpuMilli, memoryGiB, Optional.empty(), Optional.empty());
    }

    private static Shape gang(int workers, Optional<String> required, Optional<String> preferred) {
        return shape(workers, GpuRequest.whole(GPUS_PER_NODE), 96_000, 1_024, required, preferred);
    }

    private static Shape shape(
            int workers,
            GpuRequest gpus,
            long cpuMilli,
            long memoryGiB,
            Optional<String> required,
            Optional<String> preferred) {
        return Shape.ofWorkers(workers, gpus)
                .cpuMilli(cpuMilli)
                .memoryMiB(memoryGiB * 1_024)
                .requiredLevel(required)
                .preferredLevel(preferred)
                .shape();
    }

    private List<QuotaPath> leafPaths() {
        List<QuotaPath> paths = new ArrayList<>();
        for (int t = 0; t < scale.tenants(); t++) {
            for (int g = 0; g < scale.groups(); g++) {
                for (int s = 0; s < scale.subgroups(); s++) {
                    paths.add(path(t, g, s));
                }
            }
        }
        return paths;
    }

    private static QuotaPath path(int... numbers) {
        List<String> segments = new ArrayList<>();
        String[] letters = {"t", "g", "s"};
        for (int level = 0; level < numbers.length; level++) {
            segments.add(String.format("%s%02d", letters[level], numbers[level]));
        }
        return new QuotaPath(segments);
    }

    /** Profiles of a subgroup: most use its main pool, 30 % of them also a second one. */
    private List<Profile> profiles(QuotaPath path, Random random) {
        List<Profile> profiles = new ArrayList<>();
        int main = pool(random);
        for (int i = 0; i < PROFILES_PER_SUBGROUP; i++) {
            int kind = kind(random);
            int first = random.nextInt(100) < 70 ? main : pool(random);
            List<PoolId> pools = new ArrayList<>(List.of(POOLS.get(first)));
            if (random.nextInt(100) < 30) {
                pools.add(POOLS.get((first + 1 + random.nextInt(2)) % POOLS.size()));
            }
            StringBuilder name = new StringBuilder(path.tenant() + "-k" + kind);
            pools.forEach(pool -> name.append('-').append(pool.value()));
            profiles.add(
                    new Profile(new ProfileId(name.toString()), kinds.get(kind).shape(), List.copyOf(pools)));
        }
        return profiles;
    }

    private int kind(Random random) {
        int sum = kinds.stream().mapToInt(Kind::frequency).sum();
        int at = random.nextInt(sum);
        int kind = 0;
        while (at >= kinds.get(kind).frequency()) {
            at -= kinds.get(kind).frequency();
            kind++;
        }
        return kind;
    }

    private static int pool(Random random) {
        int at = random.nextInt(100);
        return at < PARTS_OF_NODES[0] ? 0 : at < PARTS_OF_NODES[0] + PARTS_OF_NODES[1] ? 1 : 2;
    }

    /** Pools, nodes, quotas and what the variant adds. */
    List<Change> base() {
        List<Change> changes = new ArrayList<>();
        for (int p = 0; p < POOLS.size(); p++) {
            changes.add(new Change.PoolSet(pool(POOLS.get(p), p)));
        }
        changes.addAll(nodes());
        changes.addAll(quotas());
        if (variant == CellVariant.BUDGET) {
            for (int t = 0; t < Math.min(5, scale.tenants()); t++) {
                long left = scale.nodes() * GPUS_PER_NODE * 1_000L * 24 * 30 * HOUR_MILLIS;
                changes.add(new Change.BudgetSet(path(t), Scope.ALL_POOLS, left, 0, BEGIN_MILLIS, 30_000));
            }
        }
        return changes;
    }

    private Pool pool(PoolId id, int number) {
        boolean last = number == POOLS.size() - 1;
        List<ProfileId> order = variant == CellVariant.PROFILE_ORDER && number == 0
                ? subgroups.stream()
                        .flatMap(each -> each.profiles().stream())
                        .filter(profile -> profile.pools().contains(id))
                        .map(Profile::id)
                        .distinct()
                        .limit(6)
                        .toList()
                : List.of();
        List<Hours.Span> spans = new ArrayList<>();
        for (DayOfWeek day : DayOfWeek.values()) {
            spans.add(Hours.Span.between(day, "06:00", "22:00"));
        }
        return new Pool(
                id,
                new Pool.Capacity.Nodes(OptionalLong.empty()),
                Pool.Placement.PACK,
                Pool.Sharing.TENANT,
                order,
                List.of("block", RACK),
                true,
                Optional.empty(),
                variant == CellVariant.OPENING_HOURS && last
                        ? Optional.of(new Hours(ZoneOffset.UTC, spans, Hours.AtClose.PREEMPT))
                        : Optional.empty(),
                0,
                true);
    }

    private List<Change> nodes() {
        List<Change> changes = new ArrayList<>();
        int number = 0;
        for (int p = 0; p < POOLS.size(); p++) {
            List<Node.Device> devices = new ArrayList<>();
            for (int index = 0; index < GPUS_PER_NODE; index++) {
                devices.add(new Node.Device(
                        index, MODELS.get(p).model(), MODELS.get(p).memoryMiB(), false));
            }
            for (int n = 0; n < nodesOf(p); n++) {
                changes.add(new Change.NodeSet(new Node(
                        new NodeId(String.format("n%05d", number++)),
                        POOLS.get(p),
                        true,
                        true,
                        devices,
                        OptionalLong.of(CORES_PER_NODE_MILLI),
                        OptionalLong.of(MEMORY_PER_NODE_MIB),
                        Collections.emptySortedMap(),
                        List.of("b" + n / NODES_PER_BLOCK, "r" + n / NODES_PER_RACK))));
            }
        }
        return changes;
    }

    private int nodesOf(int pool) {
        int first = scale.nodes() * PARTS_OF_NODES[0] / 100;
        int second = scale.nodes() * PARTS_OF_NODES[1] / 100;
        return pool == 0 ? first : pool == 1 ? second : scale.nodes() - first - second;
    }

    /** Quotas of tenants, groups and subgroups in every pool; in whole GPUs, which add up to 60 % of the pool. */
    private List<Change> quotas() {
        Random random = new Random(scale.seed() + 2);
        List<Change> changes = new ArrayList<>();
        for (int p = 0; p < POOLS.size(); p++) {
            Scope scope = Scope.of(POOLS.get(p));
            long reserved = (long) (nodesOf(p) * GPUS_PER_NODE * RESERVED);
            long[] ofTenants = parts(reserved, scale.tenants(), random);
            for (int t = 0; t < scale.tenants(); t++) {
                boolean carved = variant == CellVariant.CARVE_OUTS && t % 2 == 0;
                changes.add(new Change.QuotaSet(fenced(
                        quota(path(t), scope, ofTenants[t], carved ? ofTenants[t] / 2 : ofTenants[t], 0, random),
                        t % 4 == 0)));
                long[] ofGroups = parts(ofTenants[t], scale.groups(), random);
                for (int g = 0; g < scale.groups(); g++) {
                    int rank = random.nextInt(5) == 0 ? 1 : 0;
                    changes.add(new Change.QuotaSet(
                            fenced(quota(path(t, g), scope, ofGroups[g], ofGroups[g], rank, random), g % 5 == 0)));
                    long[] ofSubgroups = parts(ofGroups[g], scale.subgroups(), random);
                    for (int s = 0; s < scale.subgroups(); s++) {
                        boolean dedicated = variant == CellVariant.CARVE_OUTS && (t + g + s) % 10 == 0;
                        changes.add(new Change.QuotaSet(
                                leaf(path(t, g, s), scope, ofSubgroups[s], dedicated ? 0 : ofSubgroups[s], random)));
                    }
                }
            }
        }
        return changes;
    }

    private Quota fenced(Quota quota, boolean chosen) {
        return variant == CellVariant.FENCES && chosen ? quota.fenced() : quota;
    }

    /** Divides an amount into uneven whole parts. */
    private static long[] parts(long amount, int count, Random random) {
        long[] cuts = new long[count + 1];
        double[] weights = new double[count];
        double sum = 0;
        for (int i = 0; i < count; i++) {
            weights[i] = 0.25 + random.nextDouble() * random.nextDouble() * 3;
            sum += weights[i];
        }
        double until = 0;
        for (int i = 0; i < count; i++) {
            until += weights[i];
            cuts[i + 1] = Math.round(amount * until / sum);
        }
        long[] parts = new long[count];
        Arrays.setAll(parts, i -> cuts[i + 1] - cuts[i]);
        return parts;
    }

    private static Quota quota(
            QuotaPath path, Scope scope, long reservedGpus, long lendableGpus, int rank, Random random) {
        return new Quota(
                path,
                scope,
                reservedGpus * 1_000,
                OptionalLong.empty(),
                OptionalLong.of(1_000L * (1 + random.nextInt(4))),
                OptionalLong.of(lendableGpus * 1_000),
                rank,
                true);
    }

    /** A tenth of the subgroups has a limit, and of those with a reservation one in twenty may not exceed it. */
    private static Quota leaf(QuotaPath path, Scope scope, long reservedGpus, long lendableGpus, Random random) {
        boolean limited = random.nextInt(10) == 0;
        boolean within = random.nextInt(20) == 0 && reservedGpus > 0;
        return new Quota(
                path,
                scope,
                reservedGpus * 1_000,
                limited ? OptionalLong.of((reservedGpus * 2 + 16) * 1_000) : OptionalLong.empty(),
                OptionalLong.of(1_000L * (1 + random.nextInt(4))),
                OptionalLong.of(lendableGpus * 1_000),
                random.nextInt(10) == 0 ? 1 : 0,
                !within);
    }

    /** The workloads that wait at the beginning; they were submitted during the hour before. */
    List<Change> queue() {
        List<Change> changes = new ArrayList<>(scale.waiting());
        for (int i = 0; i < scale.waiting(); i++) {
            long age = HOUR_MILLIS - i * HOUR_MILLIS / scale.waiting();
            changes.add(new Change.WorkloadSet(arrival(BEGIN_MILLIS - age)));
        }
        return changes;
    }

    /** The next workload that is submitted. */
    Workload arrival(long nowMillis) {
        int number = submitted++;
        Subgroup subgroup = subgroups.get(zipfRank());
        Profile profile =
                subgroup.profiles().get(arrivals.nextInt(subgroup.profiles().size()));
        int priority = PRIORITIES[arrivals.nextInt(PRIORITIES.length)];
        boolean preemptible = arrivals.nextInt(20) != 0;
        long[] hours = {1, 4, 12, 24};
        OptionalLong maxRuntime = arrivals.nextInt(100) < 30
                ? OptionalLong.of(hours[arrivals.nextInt(hours.length)] * HOUR_MILLIS)
                : OptionalLong.empty();
        return new Workload(
                new WorkloadId(String.format("w%08d", number)),
                subgroup.path(),
                Optional.of(subgroup.path() + "/u" + arrivals.nextInt(10)),
                Optional.of(profile.id()),
                Optional.of(new QueueId(subgroup.path() + "/" + profile.id().value())),
                profile.shape(),
                profile.pools(),
                priority,
                preemptible,
                false,
                false,
                nowMillis,
                number,
                maxRuntime,
                false,
                WorkloadPhase.waiting(),
                Optional.empty());
    }

    private int zipfRank() {
        double at = arrivals.nextDouble() * zipf[zipf.length - 1];
        int found = Arrays.binarySearch(zipf, at);
        return found < 0 ? -found - 1 : found;
    }

    /** The queue of the subgroup with the greatest demand. */
    QueueId busiestQueue() {
        Subgroup first = subgroups.getFirst();
        return new QueueId(first.path() + "/" + first.profiles().getFirst().id().value());
    }
}
