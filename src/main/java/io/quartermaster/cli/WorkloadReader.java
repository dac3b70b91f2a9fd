package io.quartermaster.cli;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.GpuRequest;
import io.quartermaster.engine.NodeId;
import io.quartermaster.engine.Pool;
import io.quartermaster.engine.PoolId;
import io.quartermaster.engine.ProfileId;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.Shape;
import io.quartermaster.engine.Workload;
import io.quartermaster.engine.WorkloadId;
import io.quartermaster.engine.WorkloadState;
import io.quartermaster.engine.placement.Seating;
import io.quartermaster.engine.simulation.Scenario;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.SequenceNode;

/** Reads the workloads and profiles of a scenario, and seats those that run from the beginning. */
final class WorkloadReader {
    private final Map<PoolId, Pool> pools;
    private final Map<NodeId, io.quartermaster.engine.Node> nodes;
    private final Map<PoolId, Seating> seatings = new HashMap<>();
    private final Map<ProfileId, Form> profiles = new HashMap<>();
    private final Set<WorkloadId> known = new LinkedHashSet<>();
    private long sequence;

    WorkloadReader(Map<PoolId, Pool> pools, Map<NodeId, io.quartermaster.engine.Node> nodes) {
        this.pools = pools;
        this.nodes = nodes;
    }

    /** What a profile or a workload states of its shape; what is absent is up to the other. */
    private record Form(
            Optional<GpuRequest> gpus,
            OptionalInt workers,
            OptionalInt minWorkers,
            OptionalLong cpuMilli,
            OptionalLong memoryMiB,
            SortedMap<String, String> labels,
            Optional<String> requiredLevel,
            Optional<String> preferredLevel,
            List<PoolId> pools) {

        Form over(Form profile) {
            return new Form(
                    gpus.or(profile::gpus),
                    workers.isPresent() ? workers : profile.workers,
                    minWorkers.isPresent() ? minWorkers : profile.minWorkers,
                    cpuMilli.isPresent() ? cpuMilli : profile.cpuMilli,
                    memoryMiB.isPresent() ? memoryMiB : profile.memoryMiB,
                    labels.isEmpty() ? profile.labels : labels,
                    requiredLevel.or(profile::requiredLevel),
                    preferredLevel.or(profile::preferredLevel),
                    pools.isEmpty() ? profile.pools : pools);
        }

        Shape shape() {
            int count = workers.orElse(1);
            return new Shape(
                    count,
                    minWorkers.orElse(count),
                    gpus.orElse(GpuRequest.whole(0)),
                    cpuMilli.orElse(0),
                    memoryMiB.orElse(0),
                    labels,
                    requiredLevel,
                    preferredLevel);
        }
    }

    /** All workloads read so far. */
    Set<WorkloadId> known() {
        return known;
    }

    WorkloadId named(YamlSection section, String name) {
        if (!known.contains(new WorkloadId(name))) {
            throw section.error("there is no workload '" + name + "'");
        }
        return new WorkloadId(name);
    }

    void profile(ProfileId id, YamlSection section) {
        profiles.put(id, form(section));
    }

    private Form form(YamlSection section) {
        Optional<YamlSection> topology = section.section("topology");
        Optional<String> required = topology.flatMap(levels -> levels.text("required"));
        Optional<String> preferred = topology.flatMap(levels -> levels.text("preferred"));
        topology.ifPresent(YamlSection::close);
        List<PoolId> wanted = new ArrayList<>();
        for (String pool : section.texts("pools")) {
            if (!pools.containsKey(new PoolId(pool))) {
                throw section.error("there is no pool '" + pool + "'");
            }
            wanted.add(new PoolId(pool));
        }
        return new Form(
                gpus(section),
                section.integer("workers"),
                section.integer("min-workers"),
                section.milli("cpu"),
                section.memory("memory"),
                section.labels("labels"),
                required,
                preferred,
                wanted);
    }

    private static Optional<GpuRequest> gpus(YamlSection section) {
        OptionalLong gpuMilli = section.milli("gpus");
        OptionalLong memoryMiB = section.memory("gpu-memory");
        Optional<String> mig = section.text("mig");
        int devices = section.integer("devices").orElse(1);
        if ((gpuMilli.isPresent() ? 1 : 0) + (memoryMiB.isPresent() ? 1 : 0) + (mig.isPresent() ? 1 : 0) > 1) {
            throw section.error("'gpus', 'gpu-memory' and 'mig' exclude one another");
        }
        try {
            if (memoryMiB.isPresent()) {
                return Optional.of(new GpuRequest.Memory(devices, memoryMiB.getAsLong()));
            }
            if (mig.isPresent()) {
                return Optional.of(new GpuRequest.Mig(mig.get()));
            }
            if (gpuMilli.isEmpty()) {
                return Optional.empty();
            }
            long amount = gpuMilli.getAsLong();
            return Optional.of(
                    amount % 1000 == 0
                            ? GpuRequest.whole(Math.toIntExact(devices * (amount / 1000)))
                            : new GpuRequest.Fraction(devices, Math.toIntExact(amount)));
        } catch (IllegalArgumentException e) {
            throw section.error(String.valueOf(e.getMessage()));
        }
    }

    /** The jobs that a list states, {@code count} of them each. */
    List<Scenario.Job> jobs(List<YamlSection> sections, long atMillis) {
        List<Scenario.Job> jobs = new ArrayList<>();
        for (YamlSection section : sections) {
            try (section) {
                jobs.addAll(jobs(section, atMillis));
            }
        }
        return jobs;
    }

    private List<Scenario.Job> jobs(YamlSection section, long atMillis) {
        String name = section.requiredText("name");
        OptionalInt count = section.integer("count");
        QuotaPath path = QuotaPath.parse(section.requiredText("path"));
        Optional<ProfileId> profile = section.text("profile").map(ProfileId::new);
        Form form = form(section);
        if (profile.isPresent()) {
            Form base = profiles.get(profile.get());
            if (base == null) {
                throw section.error("there is no profile '" + profile.get() + "'");
            }
            form = form.over(base);
        }
        Template template = new Template(
                path,
                profile,
                form.shape(),
                form.pools().isEmpty() ? List.copyOf(pools.keySet()) : form.pools(),
                section.integer("priority").orElse(Workload.DEFAULT_PRIORITY),
                section.flag("preemptible").orElse(true),
                section.flag("dedicated-only").orElse(false),
                section.duration("max-runtime"),
                section.flag("held").orElse(false));
        OptionalLong duration = section.duration("duration");
        boolean running =
                section.text("state").map(state -> isRunning(section, state)).orElse(false);
        List<String> on = section.texts("on");
        List<Node> gpu = section.list("gpu");
        long started = section.duration("started").orElse(0);
        List<Scenario.Job> jobs = new ArrayList<>();
        for (int i = 1; i <= count.orElse(1); i++) {
            WorkloadId id = new WorkloadId(count.isPresent() ? name + "-" + i : name);
            if (!known.add(id)) {
                throw section.error("workload '" + id + "' is given twice");
            }
            WorkloadState state = running
                    ? WorkloadState.running(seat(section, template, on, gpu), started)
                    : WorkloadState.waiting();
            jobs.add(new Scenario.Job(template.workload(id, atMillis, sequence++, state), duration));
        }
        return jobs;
    }

    private static boolean isRunning(YamlSection section, String state) {
        return switch (state) {
            case "running" -> true;
            case "pending" -> false;
            default -> throw section.error("'state' is running or pending");
        };
    }

    /** What all workloads of one statement have in common. */
    private record Template(
            QuotaPath path,
            Optional<ProfileId> profile,
            Shape shape,
            List<PoolId> pools,
            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            OptionalLong maxRuntimeMillis,
            boolean held) {

        Workload workload(WorkloadId id, long submittedMillis, long sequence, WorkloadState state) {
            return new Workload(
                    id,
                    path,
                    Optional.empty(),
                    profile,
                    shape,
                    pools,
                    priority,
                    preemptible,
                    dedicatedOnly,
                    submittedMillis,
                    sequence,
                    maxRuntimeMillis,
                    held,
                    state,
                    Optional.empty());
        }
    }

    private Allocation seat(YamlSection section, Template template, List<String> on, List<Node> gpu) {
        if (on.isEmpty()) {
            throw section.error("running work says 'on' which nodes, or in which counted pool");
        }
        PoolId counted = new PoolId(on.getFirst());
        Pool pool = pools.get(counted);
        if (pool != null && pool.capacity() instanceof Pool.Capacity.Count) {
            return counted(section, counted, template.shape());
        }
        List<Allocation.Worker> workers = new ArrayList<>();
        PoolId inPool = counted;
        for (int number = 0; number < on.size(); number++) {
            NodeId id = new NodeId(on.get(number));
            io.quartermaster.engine.Node node = nodes.get(id);
            if (node == null) {
                throw section.error("there is no node or counted pool '" + id + "'");
            }
            inPool = node.pool();
            Seating seating = seatings.computeIfAbsent(inPool, this::seating);
            workers.add(seating.seat(
                            number,
                            node.pool(),
                            template.path(),
                            template.shape(),
                            id,
                            devices(section, gpu, number, on))
                    .orElseThrow(() -> section.error("it does not fit on node '" + id + "'")));
        }
        if (workers.size() < template.shape().minWorkers()
                || workers.size() > template.shape().workers()) {
            throw section.error("'on' names " + on.size() + " workers, which the shape does not allow");
        }
        return new Allocation(inPool, workers);
    }

    private Seating seating(PoolId id) {
        Pool pool = pools.getOrDefault(id, Pool.ofNodes(id));
        return new Seating(
                pool,
                nodes.values().stream().filter(node -> node.pool().equals(id)).toList());
    }

    private static Allocation counted(YamlSection section, PoolId pool, Shape shape) {
        if (!(shape.gpus() instanceof GpuRequest.Whole whole)) {
            throw section.error("work in a counted pool asks for whole units");
        }
        List<Allocation.Worker> workers = new ArrayList<>();
        for (int number = 0; number < shape.workers(); number++) {
            workers.add(new Allocation.Worker(number, new Allocation.Place.Counted(whole.count() * 1000L)));
        }
        return new Allocation(pool, workers);
    }

    /** Device numbers of one worker: all of a flat list, or the worker's own list. */
    private static List<Integer> devices(YamlSection section, List<Node> gpu, int number, List<String> on) {
        if (gpu.isEmpty()) {
            return List.of();
        }
        boolean nested = gpu.getFirst() instanceof SequenceNode;
        if ((nested && gpu.size() != on.size()) || (!nested && on.size() > 1)) {
            throw section.error("'gpu' is a list of device numbers, or one such list per worker");
        }
        List<Integer> devices = new ArrayList<>();
        for (Node node : nested ? YamlSection.elements(gpu.get(number)) : gpu) {
            devices.add((int) (YamlSection.milli(node) / 1000));
        }
        return devices;
    }
}
