package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.placement.CounterPool;
import io.quartermaster.engine.placement.FixedPlacement;
import io.quartermaster.engine.simulation.Scenario;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.SequenceNode;

/** Reader of the workloads and profiles of a scenario; it places workloads that run from the beginning. */
final class WorkloadReader {
    private final Map<PoolId, Pool> pools;
    private final Map<NodeId, io.quartermaster.engine.model.Node> nodes;
    private final Map<PoolId, FixedPlacement> fixedPlacements = new HashMap<>();
    private final Map<ProfileId, WorkloadForm> profiles = new HashMap<>();
    private final Set<QueueId> queues = new HashSet<>();
    private final Map<QueueId, QuotaPath> pathOfQueue = new HashMap<>();
    private final Set<WorkloadId> known = new LinkedHashSet<>();
    private long sequence;

    WorkloadReader(Map<PoolId, Pool> pools, Map<NodeId, io.quartermaster.engine.model.Node> nodes) {
        this.pools = pools;
        this.nodes = nodes;
    }

    /** All workloads read so far. */
    Set<WorkloadId> known() {
        return known;
    }

    WorkloadId requireKnown(YamlSection section, String name) {
        if (!known.contains(new WorkloadId(name))) {
            throw section.error("there is no workload '" + name + "'");
        }
        return new WorkloadId(name);
    }

    /** Declares a queue, whose path is that of its first workload. */
    void queue(QueueId id) {
        queues.add(id);
    }

    void profile(ProfileId id, YamlSection section) {
        profiles.put(id, WorkloadForm.read(section, pools.keySet()));
    }

    /** Reads the jobs of a list, in its order. Workloads that name their devices are placed before the others. */
    List<Scenario.Job> jobs(List<YamlSection> sections, long atMillis) {
        List<Statement> statements = new ArrayList<>();
        for (YamlSection section : sections) {
            try (section) {
                statements.add(statement(section, atMillis));
            } catch (IllegalArgumentException | ArithmeticException e) {
                throw section.error(String.valueOf(e.getMessage()));
            }
        }
        Map<WorkloadId, Allocation> allocations = new HashMap<>();
        for (boolean namesDevices : List.of(true, false)) {
            for (Statement statement : statements) {
                if (statement.running() && statement.gpu().isEmpty() != namesDevices) {
                    statement.ids().forEach(id -> allocations.put(id, allocate(statement)));
                }
            }
        }
        List<Scenario.Job> jobs = new ArrayList<>();
        for (Statement statement : statements) {
            for (WorkloadId id : statement.ids()) {
                WorkloadPhase state = Optional.ofNullable(allocations.get(id))
                        .map(place ->
                                WorkloadPhase.running(place, statement.startedMillis(), statement.fromReservation()))
                        .orElse(WorkloadPhase.waiting());
                Workload workload = statement.template().workload(id, atMillis, sequence++, state);
                jobs.add(new Scenario.Job(workload, statement.durationMillis()));
            }
        }
        return jobs;
    }

    /** An entry of a list of workloads; {@code count} makes several workloads of one entry. */
    private record Statement(
            YamlSection section,
            List<WorkloadId> ids,
            Template template,
            boolean running,
            List<Node> on,
            boolean onIsList,
            List<Node> gpu,
            long startedMillis,
            boolean fromReservation,
            OptionalLong durationMillis) {}

    private Statement statement(YamlSection section, long atMillis) {
        String name = section.requiredText("name");
        OptionalInt count = section.count("count");
        List<WorkloadId> ids = new ArrayList<>();
        for (int i = 1; i <= count.orElse(1); i++) {
            WorkloadId id = new WorkloadId(count.isPresent() ? name + "-" + i : name);
            if (!known.add(id)) {
                throw section.error("workload '" + id + "' is given twice");
            }
            ids.add(id);
        }
        Template template = template(section);
        boolean running =
                section.text("state").map(state -> isRunning(section, state)).orElse(false);
        Optional<Node> on = section.consume("on");
        long startedMillis = section.duration("started").orElse(0);
        if (startedMillis > atMillis) {
            throw section.error("running work must have 'started' no later than the time of its entry");
        }
        return new Statement(
                section,
                ids,
                template,
                running,
                on.map(YamlSection::elements).orElse(List.of()),
                on.filter(SequenceNode.class::isInstance).isPresent(),
                section.list("gpu"),
                startedMillis,
                section.flag("from-reservation").orElse(false),
                section.length("duration"));
    }

    private Template template(YamlSection section) {
        QuotaPath path = QuotaPath.parse(section.requiredText("path"));
        Optional<ProfileId> profile = section.text("profile").map(ProfileId::new);
        WorkloadForm form = WorkloadForm.read(section, pools.keySet());
        if (profile.isPresent()) {
            WorkloadForm base = profiles.get(profile.get());
            if (base == null) {
                throw section.error("there is no profile '" + profile.get() + "'");
            }
            form = form.withDefaultsOf(base);
        }
        return new Template(
                path,
                profile,
                section.text("queue").map(name -> queue(section, name, path)),
                form.shape(),
                form.pools().isEmpty() ? List.copyOf(pools.keySet()) : form.pools(),
                section.integer("priority").orElse(Workload.DEFAULT_PRIORITY),
                section.flag("preemptible").orElse(true),
                section.flag("dedicated-only").orElse(false),
                form.moveBack().orElse(false),
                section.length("max-runtime"),
                section.flag("held").orElse(false));
    }

    /** The id of a declared queue. */
    QueueId queue(YamlSection section, String name) {
        QueueId id = new QueueId(name);
        if (!queues.contains(id)) {
            throw section.error("there is no queue '" + name + "'");
        }
        return id;
    }

    private QueueId queue(YamlSection section, String name, QuotaPath path) {
        QueueId id = queue(section, name);
        QuotaPath known = pathOfQueue.computeIfAbsent(id, first -> path);
        if (!known.equals(path)) {
            throw section.error("queue '" + name + "' belongs to path '" + known + "'");
        }
        return id;
    }

    private static boolean isRunning(YamlSection section, String state) {
        return switch (state) {
            case "running" -> true;
            case "pending" -> false;
            default -> throw section.error("'state' must be running or pending");
        };
    }

    /** The common fields of all workloads of one entry. */
    private record Template(
            QuotaPath path,
            Optional<ProfileId> profile,
            Optional<QueueId> queue,
            Shape shape,
            List<PoolId> pools,
            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            boolean movesBack,
            OptionalLong maxRuntimeMillis,
            boolean held) {

        Workload workload(WorkloadId id, long submittedMillis, long sequence, WorkloadPhase state) {
            return new Workload(
                    id,
                    path,
                    Optional.empty(),
                    profile,
                    queue,
                    shape,
                    pools,
                    priority,
                    preemptible,
                    dedicatedOnly,
                    movesBack,
                    submittedMillis,
                    sequence,
                    maxRuntimeMillis,
                    held,
                    state,
                    Optional.empty());
        }
    }

    private Allocation allocate(Statement statement) {
        YamlSection section = statement.section();
        List<String> on = new ArrayList<>();
        statement.on().forEach(node -> on.add(YamlSection.scalar(node)));
        if (on.isEmpty()) {
            throw section.error("running work must name its nodes, or its counted pool, with 'on'");
        }
        Shape shape = statement.template().shape();
        if (!statement.onIsList() && (on.size() < shape.allMinWorkers() || isCounted(on.getFirst()))) {
            on.addAll(Collections.nCopies(shape.allWorkers() - 1, on.getFirst()));
        }
        if (on.size() < shape.allMinWorkers() || on.size() > shape.allWorkers()) {
            throw section.error("'on' names " + on.size() + " workers, which the shape does not allow");
        }
        List<Allocation.Worker> workers = new ArrayList<>();
        PoolId pool = poolOf(section, on.getFirst());
        for (int number = 0; number < on.size(); number++) {
            if (!poolOf(section, on.get(number)).equals(pool)) {
                throw section.error("a workload must run in one pool");
            }
            workers.add(worker(statement, pool, number, on));
        }
        Allocation held = new Allocation(pool, workers);
        if (!shape.isEnough(held)) {
            throw section.error("'on' leaves a worker set below its minimum");
        }
        return held;
    }

    private boolean isCounted(String name) {
        Pool pool = pools.get(new PoolId(name));
        return pool != null && pool.capacity() instanceof Pool.Capacity.Count;
    }

    private PoolId poolOf(YamlSection section, String place) {
        io.quartermaster.engine.model.Node node = nodes.get(new NodeId(place));
        if (node == null && !isCounted(place)) {
            throw section.error("there is no node or counted pool '" + place + "'");
        }
        return node == null ? new PoolId(place) : node.pool();
    }

    private Allocation.Worker worker(Statement statement, PoolId pool, int number, List<String> on) {
        Template template = statement.template();
        if (isCounted(on.get(number))) {
            if (template.shape().of(number).gpus() instanceof GpuRequest.Memory) {
                throw statement.section().error("a request by GPU memory is not possible in a counted pool");
            }
            return new Allocation.Worker(
                    number,
                    new Allocation.Place.Counted(
                            CounterPool.counts(template.shape().of(number).gpus())));
        }
        FixedPlacement fixedPlacement = fixedPlacements.computeIfAbsent(pool, this::fixedPlacement);
        NodeId node = new NodeId(on.get(number));
        List<Integer> devices = devices(statement.section(), statement.gpu(), number, on);
        return fixedPlacement
                .placeWorker(number, pool, template.path(), template.shape().of(number), node, devices)
                .orElseThrow(() -> statement.section().error("the workload does not fit on node '" + node + "'"));
    }

    private FixedPlacement fixedPlacement(PoolId id) {
        Pool pool = pools.getOrDefault(id, Pool.ofNodes(id));
        return new FixedPlacement(
                pool,
                nodes.values().stream().filter(node -> node.pool().equals(id)).toList());
    }

    /** The device numbers of one worker: all of a flat list, or the worker's own list. */
    private static List<Integer> devices(YamlSection section, List<Node> gpu, int number, List<String> on) {
        if (gpu.isEmpty()) {
            return List.of();
        }
        boolean nested = gpu.getFirst() instanceof SequenceNode;
        if ((nested && gpu.size() != on.size()) || (!nested && on.size() > 1)) {
            throw section.error("'gpu' must be a list of device numbers, or one such list per worker");
        }
        List<Integer> devices = new ArrayList<>();
        for (Node node : nested ? YamlSection.elements(gpu.get(number)) : gpu) {
            long milli = YamlSection.milli(node);
            if (milli % 1000 != 0) {
                throw section.error("a device number must be a whole number");
            }
            devices.add((int) (milli / 1000));
        }
        return devices;
    }
}
