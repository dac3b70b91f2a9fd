package io.quartermaster.dispatch.read;

import io.quartermaster.dispatch.lifecycle.AttemptStopReason;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Device;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.LiveAttempt;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.PausedWork;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.SurplusWorker;
import io.quartermaster.dispatch.lifecycle.WorkloadRecord.Terms;
import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Allocation.MigInstance;
import io.quartermaster.engine.model.Allocation.Place;
import io.quartermaster.engine.model.Allocation.Share;
import io.quartermaster.engine.model.Allocation.Worker;
import io.quartermaster.engine.model.EvictionCause;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.function.Function;

/** The mapping of workloads and allocations from tables to engine, and of allocations back. */
public final class EngineFacts {

    /** As in {@link TermsInterner}. */
    private static final int MAX_CACHED_TERMS = 10_000;

    private final Function<UUID, PoolId> pools;
    private final Function<UUID, QuotaPath> paths;
    private final Map<Terms, ResolvedTerms> resolvedTerms = new HashMap<>();

    /** The part that all workloads with equal terms share; it is stored once. */
    private record ResolvedTerms(Shape shape, List<PoolId> pools, ProfileId profile, QueueId queue) {}

    /** @param paths the quota paths of policies */
    public EngineFacts(Function<UUID, PoolId> pools, Function<UUID, QuotaPath> paths) {
        this.pools = pools;
        this.paths = paths;
    }

    /** The workload as it will be in the state {@code state}. */
    Workload workload(WorkloadRecord record, WorkloadPhase state, boolean held) {
        Terms terms = record.terms();
        ResolvedTerms same = resolve(terms);
        return new Workload(
                id(record.id()),
                paths.apply(terms.policy()),
                Optional.of(record.submitter().subject()),
                Optional.of(same.profile()),
                Optional.of(same.queue()),
                shape(record, same.shape()),
                pinnedWork(record)
                        .map(work -> List.of(pools.apply(work.pool())))
                        .orElse(same.pools()),
                record.priority(),
                record.preemptible(),
                record.dedicatedOnly() || !terms.overQuota(),
                terms.movesBack(),
                record.submittedMillis(),
                record.sequence(),
                record.maxRuntimeMillis(),
                held,
                state,
                record.nomination().map(EngineFacts::nomination));
    }

    /** The paused processes, which the workload can resume only on their own node. */
    private static Optional<PausedWork> pinnedWork(WorkloadRecord record) {
        return record.state() instanceof io.quartermaster.workloads.WorkloadState.Paused
                ? record.paused()
                : Optional.empty();
    }

    /**
     * Like {@link #asStored}, but such that no plan decides about it: it is held while it waits, and is not preemptible
     * while it runs.
     */
    public Workload asUntouchable(WorkloadRecord record, long nowMillis) {
        return record.attempt().isPresent()
                ? asStored(record.asNonPreemptible(), nowMillis)
                : workload(record, asStored(record, nowMillis).state(), true);
    }

    /**
     * The workload as stored, without any lifecycle step. It is held while its next try is delayed, and while its queue
     * is held.
     */
    public Workload asStored(WorkloadRecord record, long nowMillis) {
        WorkloadPhase state = record.attempt()
                .map(attempt -> (WorkloadPhase) holding(attempt))
                .orElseGet(() -> new WorkloadPhase.Waiting(
                        record.atHeadSinceMillis(),
                        record.place(),
                        pinnedWork(record).map(work -> new NodeId(work.node().toString()))));
        boolean held = record.state() instanceof io.quartermaster.workloads.WorkloadState.Held;
        return workload(
                record, state, held || record.isHeldInQueue() || record.isDelayed(nowMillis) || record.isLeaving());
    }

    /** The name of its first pool, or of the pool of its paused processes. */
    public PoolId firstPool(WorkloadRecord record) {
        return pools.apply(record.paused()
                .map(PausedWork::pool)
                .orElse(record.terms().pools().getFirst()));
    }

    private WorkloadPhase.Holding holding(LiveAttempt attempt) {
        return new WorkloadPhase.Holding(
                allocation(attempt),
                attempt.boundMillis(),
                phase(attempt),
                attempt.surplus().hadBefore(),
                attempt.fromReservation());
    }

    private static WorkloadPhase.Phase phase(LiveAttempt attempt) {
        if (attempt.isStopping()) {
            return new WorkloadPhase.Phase.Stopping(cause(attempt), deadline(attempt));
        }
        SortedSet<Integer> leaving = new TreeSet<>();
        long deadline = 0;
        EvictionCause evictionCause = EvictionCause.ASKED;
        for (SurplusWorker worker : attempt.surplus().workers()) {
            if (worker.attempt().isStopping()) {
                leaving.add(worker.number());
                deadline = Math.max(deadline, deadline(worker.attempt()));
                evictionCause = cause(worker.attempt());
            }
        }
        return leaving.isEmpty()
                ? new WorkloadPhase.Phase.Running()
                : new WorkloadPhase.Phase.Shrinking(evictionCause, leaving, deadline);
    }

    private static EvictionCause cause(LiveAttempt attempt) {
        return attempt.stopReason()
                        .filter(reason -> reason == AttemptStopReason.PREEMPTED || reason == AttemptStopReason.PAUSED)
                        .isPresent()
                ? EvictionCause.RECLAIM
                : EvictionCause.ASKED;
    }

    private static long deadline(LiveAttempt attempt) {
        return attempt.deadlineMillis().orElse(attempt.boundMillis());
    }

    private Allocation allocation(LiveAttempt attempt) {
        Map<Integer, List<Device>> byWorker = new TreeMap<>();
        List<Device> all = new ArrayList<>(attempt.devices());
        attempt.surplus()
                .workers()
                .forEach(worker -> all.addAll(worker.attempt().devices()));
        all.forEach(device -> byWorker.computeIfAbsent(device.worker(), worker -> new ArrayList<>())
                .add(device));
        List<Worker> workers = new ArrayList<>();
        byWorker.forEach((number, devices) -> workers.add(new Worker(number, place(devices))));
        return new Allocation(pools.apply(attempt.pool()), workers);
    }

    private static Place place(List<Device> devices) {
        Optional<UUID> node = devices.getFirst().node();
        if (node.isEmpty()) {
            return new Place.Counted(
                    devices.stream().mapToLong(Device::gpuMilli).sum());
        }
        List<Share> shares = devices.stream()
                .filter(device -> device.index().isPresent())
                .map(device -> new Share(
                        Math.toIntExact(device.index().getAsLong()),
                        Math.toIntExact(device.gpuMilli()),
                        device.instance()))
                .toList();
        return new Place.OnNode(new NodeId(node.get().toString()), shares);
    }

    /**
     * Rows of {@code allocation_device} for one worker: one row per device, or one without a device if there are none.
     */
    public static List<JsonObject> devices(Place place) {
        return switch (place) {
            case Place.Counted counted -> List.of(new JsonObject().put("gpu_milli", counted.gpuMilli()));
            case Place.OnNode onNode
            when onNode.shares().isEmpty() ->
                List.of(new JsonObject().put("node_id", onNode.node().value()).put("gpu_milli", 0));
            case Place.OnNode onNode ->
                onNode.shares().stream()
                        .map(share -> device(onNode.node(), share))
                        .toList();
        };
    }

    private static JsonObject device(NodeId node, Share share) {
        JsonObject device = new JsonObject()
                .put("node_id", node.value())
                .put("device_index", share.device())
                .put("gpu_milli", share.gpuMilli());
        share.instance()
                .ifPresent(instance -> device.put("mig", instance.profile()).put("mig_first", instance.firstSlice()));
        return device;
    }

    public static JsonObject nominationBody(Allocation place) {
        JsonArray workers = new JsonArray();
        for (Worker worker : place.workers()) {
            devices(worker.place()).forEach(device -> workers.add(device.put("worker", worker.number())));
        }
        return new JsonObject().put("pool", place.pool().value()).put("devices", workers);
    }

    private static Allocation nomination(String body) {
        JsonObject json = new JsonObject(body);
        Map<Integer, List<Device>> byWorker = new TreeMap<>();
        for (Object entry : json.getJsonArray("devices")) {
            JsonObject device = (JsonObject) entry;
            Integer index = device.getInteger("device_index");
            byWorker.computeIfAbsent(device.getInteger("worker"), worker -> new ArrayList<>())
                    .add(new Device(
                            device.getInteger("worker"),
                            Optional.ofNullable(device.getString("node_id")).map(UUID::fromString),
                            index == null ? java.util.OptionalLong.empty() : java.util.OptionalLong.of(index),
                            device.getLong("gpu_milli"),
                            Optional.ofNullable(device.getString("mig"))
                                    .map(profile -> new MigInstance(profile, device.getInteger("mig_first")))));
        }
        List<Worker> workers = new ArrayList<>();
        byWorker.forEach((number, devices) -> workers.add(new Worker(number, place(devices))));
        return new Allocation(new PoolId(json.getString("pool")), workers);
    }

    private ResolvedTerms resolve(Terms terms) {
        if (resolvedTerms.size() >= MAX_CACHED_TERMS) {
            resolvedTerms.clear();
        }
        return resolvedTerms.computeIfAbsent(
                terms,
                read -> new ResolvedTerms(
                        shape(read),
                        read.pools().stream().map(pools).toList(),
                        new ProfileId(read.profileName()),
                        queue(read.queue())));
    }

    private static Shape shape(Terms terms) {
        return Shape.ofWorkers(terms.workers(), terms.gpus())
                .minWorkers(terms.minWorkers())
                .cpuMilli(terms.cpuMilli())
                .memoryMiB(terms.memoryMiB())
                .labels(new TreeMap<>(terms.labels()))
                .requiredLevel(terms.topology().required())
                .preferredLevel(terms.topology().preferred())
                .slice(terms.topology().slice())
                .shape();
    }

    /** Surplus workers that ended by themselves are not requested again, nor is the rest of their slice. */
    private static Shape shape(WorkloadRecord record, Shape whole) {
        int done = record.attempt().map(attempt -> attempt.surplus().done()).orElse(0);
        int left = (whole.workers() - done) / whole.step() * whole.step();
        return done == 0
                ? whole
                : whole.toBuilder().workers(Math.max(whole.minWorkers(), left)).shape();
    }

    static QueueId queue(UUID id) {
        return new QueueId(id.toString());
    }

    public static WorkloadId id(UUID id) {
        return new WorkloadId(id.toString());
    }
}
