package io.quartermaster.governance.profiles;

import io.quartermaster.capacity.inventory.NodeLabels;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WorkerSlice;
import io.quartermaster.engine.placement.CounterPool;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads shapes of jobs in the form of the API, for profiles and for what-ifs, so that both accept the same shapes. It
 * reports all errors together, each with its field.
 */
public final class ProfileReader {

    private static final int MAX_WORKERS = 10_000;
    private static final long WHOLE_GPU = 1_000;
    private static final int MAX_DEVICES = 256;
    private static final Pattern MIG = Pattern.compile("[12347]g\\.[1-9][0-9]{0,3}gb");
    private static final long MAX_AMOUNT = 1_000_000_000L;
    private static final Duration MAX_RUNTIME = Duration.ofDays(365);

    /**
     * A pool in which the tenant has an allotment.
     *
     * @param levels the levels of its nodes' topology
     */
    public record GrantedPool(PoolId pool, List<String> levels) {
        public GrantedPool {
            levels = List.copyOf(levels);
        }
    }

    private final ProblemException.Invalid problems;
    private final String prefix;
    private final Map<String, String> storedLabels;

    /** @param prefix the start of the fields' paths, such as {@code shape.} */
    public ProfileReader(ProblemException.Invalid problems, String prefix) {
        this(problems, prefix, Map.of());
    }

    /** @param storedLabels labels that the profile already has: they are checked only if they change */
    ProfileReader(ProblemException.Invalid problems, String prefix, Map<String, String> storedLabels) {
        this.problems = problems;
        this.prefix = prefix;
        this.storedLabels = storedLabels;
    }

    /** Reports the errors that do not depend on the pools. Returns the GPUs of one worker, where they have no error. */
    public Optional<GpuRequest> check(ProfileApi.Request request) {
        Optional<GpuRequest> gpus = readGpus(request);
        checkWorkers(request, maxGpuMilliPerWorker(request, gpus));
        checkGpuLimit(request, gpus);

        checkAmount("cpuMilli", request.cpuMilli());
        checkAmount("memoryMiB", request.memoryMiB());
        requireField(
                gpus.map(CounterPool::counts).orElse(1L) > 0
                        || orZero(request.cpuMilli()) > 0
                        || orZero(request.memoryMiB()) > 0,
                "cpuMilli",
                "a profile without GPUs must request CPU or memory; otherwise any number of workers "
                        + "would fit on a node",
                "1 or more, or a memoryMiB of 1 or more");
        checkLabels(request.nodeLabels());
        checkMaxRuntime(request.maxRuntime());
        return gpus;
    }

    private void requireField(boolean valid, String field, String message, String accepted) {
        problems.check(valid, prefix + field, message, accepted);
    }

    /** The GPUs of one worker; empty when the request has an error in them, which is reported. */
    private Optional<GpuRequest> readGpus(ProfileApi.Request request) {
        GpuAmount amount = request.gpus();
        Long memory = request.gpuMemoryMiB();
        String mig = request.mig();
        int devices = request.gpuDevices() == null ? 1 : request.gpuDevices();
        boolean isPart = memory != null || amount != null && amount.milli() > 0 && amount.milli() < WHOLE_GPU;
        boolean fine = checkField(
                        mig == null || amount == null && memory == null,
                        "mig",
                        "cannot be combined with " + (amount == null ? "gpuMemoryMiB" : "gpus"),
                        "one of gpus, gpuMemoryMiB and mig, not two")
                & checkField(
                        memory == null || amount == null,
                        "gpuMemoryMiB",
                        "cannot be combined with gpus",
                        "one of gpus, gpuMemoryMiB and mig, not two")
                & checkField(
                        amount == null ? memory != null || mig != null : Profile.isAmount(amount.milli()),
                        "gpus",
                        amount == null
                                ? "is missing"
                                : "\"" + amount + "\" is neither a whole number of GPUs nor a part of one GPU",
                        "\"0\", a part such as \"0.25\", or a whole number such as \"8\"; or gpuMemoryMiB or mig "
                                + "instead")
                & checkField(
                        memory == null || memory >= 1 && memory <= MAX_AMOUNT,
                        "gpuMemoryMiB",
                        "out of range",
                        "1 to " + MAX_AMOUNT)
                & checkField(
                        mig == null || MIG.matcher(mig).matches(),
                        "mig",
                        "is not a MIG profile",
                        "a profile of 1, 2, 3, 4 or 7 compute slices as the GPU's maker names it, such as 1g.10gb")
                & checkField(
                        devices == 1 || isPart && devices >= 1 && devices <= MAX_DEVICES,
                        "gpuDevices",
                        isPart ? "out of range" : "applies only to parts of GPUs and to memory of GPUs",
                        isPart ? "1 to " + MAX_DEVICES : "1; give the number of whole GPUs of a worker in gpus");
        return fine
                ? Optional.of(Profile.gpus(amount == null ? 0 : amount.milli() * devices, devices, memory, mig))
                : Optional.empty();
    }

    private void checkGpuLimit(ProfileApi.Request request, Optional<GpuRequest> gpus) {
        GpuAmount limit = request.gpuLimit();
        if (limit == null || gpus.isEmpty()) {
            return;
        }
        if (gpus.get() instanceof GpuRequest.Fraction part) {
            requireField(
                    limit.milli() >= part.gpuMilliEach() && limit.milli() <= WHOLE_GPU,
                    "gpuLimit",
                    "is less than gpus guarantees, or more than one GPU",
                    "\"" + new GpuAmount(part.gpuMilliEach()).decimal() + "\" to \"1\"");
        } else {
            requireField(
                    false, "gpuLimit", "applies only to parts of GPUs", "none; or a part such as \"0.25\" as gpus");
        }
    }

    /** Reports the errors of the range of GPUs; returns the most that one worker counts as. */
    private long maxGpuMilliPerWorker(ProfileApi.Request request, Optional<GpuRequest> gpus) {
        long min = gpus.map(CounterPool::counts).orElse(0L);
        GpuAmount most = request.maxGpus();
        if (most == null || gpus.isEmpty()) {
            return min;
        }
        boolean ranges = gpus.get() instanceof GpuRequest.Whole whole && whole.count() > 0;
        boolean fine = checkField(
                ranges && most.milli() % WHOLE_GPU == 0 && most.milli() >= min,
                "maxGpus",
                ranges ? "is not a whole number of at least gpus" : "needs gpus of at least one whole GPU",
                ranges ? "a whole number, \"" + new GpuAmount(min) + "\" or more" : "none, or gpus of \"1\" or more");
        return fine ? most.milli() : min;
    }

    private boolean checkField(boolean valid, String field, String message, String accepted) {
        requireField(valid, field, message, accepted);
        return valid;
    }

    /** @param each the most that one worker counts as */
    private void checkWorkers(ProfileApi.Request request, long each) {
        int workers = workersOf(request);
        int minWorkers = minWorkersOf(request);
        // Each factor may be valid alone; their product is what the leader has to plan, count and report.
        long mostWorkers = each == 0 ? MAX_WORKERS : Math.min(MAX_WORKERS, GpuAmount.MAX_MILLI / each);
        requireField(workers >= 1 && workers <= MAX_WORKERS, "workers", "out of range", "1 to " + MAX_WORKERS);
        requireField(
                workers > MAX_WORKERS || workers <= mostWorkers,
                "workers",
                "the workers would have more than " + new GpuAmount(GpuAmount.MAX_MILLI) + " GPUs together",
                "with so many GPUs each: 1 to " + mostWorkers);
        requireField(minWorkers >= 1 && minWorkers <= workers, "minWorkers", "out of range", "1 to workers");
        checkSlice(request, workers, minWorkers);
    }

    private void checkSlice(ProfileApi.Request request, int workers, int minWorkers) {
        ProfileApi.SliceOfWorkers slice =
                request.topology() == null ? null : request.topology().slice();
        if (slice == null) {
            return;
        }
        Integer each = slice.workers();
        requireField(
                each != null && each >= 1 && workers % each == 0 && minWorkers % each == 0,
                "topology.slice.workers",
                "workers and minWorkers are not multiples of the slice",
                "a number that divides both, " + workers + " and " + minWorkers);
        requireField(slice.required() != null, "topology.slice.required", "is missing", "a level of its pools");
    }

    private static int workersOf(ProfileApi.Request request) {
        return request.workers() == null ? 1 : request.workers();
    }

    private static int minWorkersOf(ProfileApi.Request request) {
        return request.minWorkers() == null ? workersOf(request) : request.minWorkers();
    }

    private static long orZero(@Nullable Long amount) {
        return amount == null ? 0 : amount;
    }

    private void checkAmount(String field, @Nullable Long amount) {
        requireField(orZero(amount) >= 0 && orZero(amount) <= MAX_AMOUNT, field, "out of range", "0 to " + MAX_AMOUNT);
    }

    private void checkLabels(@Nullable Map<String, String> given) {
        // Labels that an older version accepted do not block other changes.
        if (!storedLabels.equals(given)) {
            NodeLabels.check(problems, prefix + "nodeLabels", given);
        }
    }

    private void checkMaxRuntime(@Nullable Duration given) {
        requireField(
                given == null || given.toMillis() > 0 && given.compareTo(MAX_RUNTIME) <= 0,
                "maxRuntime",
                "out of range",
                "more than PT0S, at most " + MAX_RUNTIME);
    }

    /**
     * Reads the profile that a request states. It refuses the request if there are errors.
     *
     * @param granted by name
     */
    public Profile read(
            ProfileApi.Request request, UUID id, String name, long version, SortedMap<String, GrantedPool> granted) {
        Optional<GpuRequest> gpus = check(request);
        List<PoolId> pools = pools(request.pools(), granted);
        problems.throwIfAny();
        return new Profile(
                id,
                name,
                gpus.orElseThrow(),
                maxGpus(request),
                gpuLimit(request),
                workersOf(request),
                minWorkersOf(request),
                orZero(request.cpuMilli()),
                orZero(request.memoryMiB()),
                request.nodeLabels() == null ? new TreeMap<>() : new TreeMap<>(request.nodeLabels()),
                request.topology() == null
                        ? Profile.Topology.ANY
                        : request.topology().levels(),
                pools,
                Boolean.TRUE.equals(request.moveBack()),
                request.maxRuntime() == null
                        ? OptionalLong.empty()
                        : OptionalLong.of(request.maxRuntime().toMillis()),
                version);
    }

    private static OptionalInt gpuLimit(ProfileApi.Request request) {
        GpuAmount limit = request.gpuLimit();
        return limit == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(limit.milli()));
    }

    private static OptionalInt maxGpus(ProfileApi.Request request) {
        GpuAmount most = request.maxGpus();
        return most == null ? OptionalInt.empty() : OptionalInt.of(Math.toIntExact(most.milli() / WHOLE_GPU));
    }

    private List<PoolId> pools(@Nullable List<@Nullable String> names, SortedMap<String, GrantedPool> granted) {
        String accepted = granted.isEmpty() ? "none: no pool is allotted yet" : String.join(", ", granted.keySet());
        if (names == null || names.isEmpty()) {
            problems.add(prefix + "pools", "a profile runs in at least one pool", accepted);
            return List.of();
        }
        List<PoolId> pools = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            String name = names.get(i);
            String field = prefix + "pools[" + i + "]";
            Optional<PoolId> found = name == null
                    ? Optional.empty()
                    : Optional.ofNullable(granted.get(name)).map(GrantedPool::pool);
            if (found.isEmpty()) {
                problems.add(field, "is not a pool of this tenant", accepted);
            } else if (pools.contains(found.get())) {
                problems.add(field, "is named twice", "each pool once");
            } else {
                pools.add(found.get());
            }
        }
        return pools;
    }

    /** Reports a level that none of its pools has, because its work would wait forever. */
    public void checkLevels(Profile profile, SortedMap<String, GrantedPool> granted) {
        SortedSet<String> known = new TreeSet<>();
        granted.values().stream()
                .filter(one -> profile.pools().contains(one.pool()))
                .forEach(one -> known.addAll(one.levels()));
        String accepted = known.isEmpty()
                ? "none: its pools state no levels of topology"
                : "a level of its pools: " + String.join(", ", known);
        Profile.Topology topology = profile.topology();
        checkLevel("topology.required", topology.required(), known, accepted);
        checkLevel("topology.preferred", topology.preferred(), known, accepted);
        checkLevel("topology.slice.required", topology.slice().map(WorkerSlice::level), known, accepted);
    }

    private void checkLevel(String field, Optional<String> level, SortedSet<String> known, String accepted) {
        requireField(level.map(known::contains).orElse(true), field, "none of its pools has such a level", accepted);
    }
}
