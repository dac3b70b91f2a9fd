package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.CapacityReservationId;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Hours;
import io.quartermaster.engine.model.Node.Device;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.ProfileOrder;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.ReservationWindow;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.simulation.Scenario;
import java.io.StringReader;
import java.time.DayOfWeek;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.Tag;

/** Reader of scenario files: one scenario per YAML document. It refuses unknown keys, and errors name their line. */
public final class ScenarioReader {
    private static final int MAX_GPUS_PER_NODE = 10_000;
    private static final long HOUR_MILLIS = 3_600_000;

    private final List<Change> setup = new ArrayList<>();
    private final Map<PoolId, Pool> pools = new LinkedHashMap<>();
    private final Map<NodeId, io.quartermaster.engine.model.Node> nodes = new LinkedHashMap<>();
    private final Map<Scope, Map<QuotaPath, Quota>> quotas = new TreeMap<>();
    private final Map<Scope, Map<QuotaPath, Quota.Override>> overrides = new TreeMap<>();
    private final Map<Scope, Map<QuotaPath, Long>> drains = new TreeMap<>();
    private long quotasRead;

    private ScenarioReader() {}

    /**
     * Reads all scenarios of a file.
     *
     * @throws ScenarioSyntaxException if it is not valid
     */
    public static List<Scenario> read(String text) {
        try {
            List<Scenario> scenarios = new ArrayList<>();
            Set<String> names = new HashSet<>();
            for (Node document : new Yaml(new LoaderOptions()).composeAll(new StringReader(text))) {
                if (document.getTag().equals(Tag.NULL)) {
                    continue;
                }
                Scenario scenario = new ScenarioReader().scenario(document);
                if (!names.add(scenario.name())) {
                    throw YamlSection.error(document, "scenario '" + scenario.name() + "' is given twice");
                }
                scenarios.add(scenario);
            }
            if (scenarios.isEmpty()) {
                throw new ScenarioSyntaxException(1, "there is no scenario in the file");
            }
            return scenarios;
        } catch (MarkedYAMLException e) {
            int line = e.getProblemMark() == null ? 1 : e.getProblemMark().getLine() + 1;
            throw new ScenarioSyntaxException(line, String.valueOf(e.getProblem()));
        }
    }

    private Scenario scenario(Node document) {
        try (YamlSection section = new YamlSection(document)) {
            String name = section.requiredText("scenario");
            if (!name.matches("[a-z0-9]+(-[a-z0-9]+)*")) {
                throw section.error("a scenario's name must be in kebab-case, not '" + name + "'");
            }
            section.text("title");
            section.text("source");
            OptionalInt cycles = cycles(section);
            section.entries("pools").forEach((id, node) -> pool(new PoolId(id), node));
            section.sections("quotas").forEach(quota -> setup.add(new Change.QuotaSet(firstQuota(quota))));
            section.sections("capacity-reservations").forEach(this::capacityReservation);
            WorkloadReader workloads = new WorkloadReader(pools, nodes);
            section.entries("queues").forEach((id, node) -> {
                setup.add(queue(new QueueId(id), node));
                workloads.queue(new QueueId(id));
            });
            section.entries("profiles").forEach((id, node) -> profile(id, node, workloads));
            Settings settings = section.section("settings").map(this::settings).orElse(Settings.DEFAULT);
            section.sections("budgets").forEach(each -> setup.add(budget(each, 0, settings.graceMillis())));
            List<Scenario.Job> jobs = workloads.jobs(section.sections("workloads"), 0);
            List<Scenario.Event> timeline = timeline(section.sections("timeline"), workloads, settings);
            ExpectationReader expectations = new ExpectationReader(pools.keySet(), workloads.known());
            return new Scenario(
                    name,
                    cycles,
                    settings,
                    setup,
                    jobs,
                    timeline,
                    expectations.expectations(section.sections("expect")));
        } catch (IllegalArgumentException e) {
            throw new ScenarioSyntaxException(YamlSection.lineOf(document), String.valueOf(e.getMessage()));
        }
    }

    private static OptionalInt cycles(YamlSection section) {
        Optional<Node> node = section.consume("cycles");
        if (node.isEmpty() || YamlSection.scalar(node.get()).equals("until-stable")) {
            return OptionalInt.empty();
        }
        String text = YamlSection.scalar(node.get());
        if (!text.matches("[1-9][0-9]{0,3}")) {
            throw YamlSection.error(node.get(), "'cycles' must be until-stable or a number of plans");
        }
        return OptionalInt.of(Integer.parseInt(text));
    }

    private void pool(PoolId id, Node node) {
        try (YamlSection section = new YamlSection(node)) {
            OptionalLong count = section.milli("capacity");
            OptionalLong most = section.milli("max-gpus");
            Pool pool = new Pool(
                    id,
                    count.isPresent() ? new Pool.Capacity.Count(count.getAsLong()) : new Pool.Capacity.Nodes(most),
                    section.choice("placement", Pool.Placement.class).orElse(Pool.Placement.PACK),
                    section.choice("share-gpus", Pool.Sharing.class).orElse(Pool.Sharing.TENANT),
                    section.texts("profile-order").stream().map(ProfileId::new).toList(),
                    section.texts("topology-levels"),
                    true);
            Optional<Hours> hours = section.section("hours").map(ScenarioReader::hours);
            long waitMillis = section.duration("wait-before-preempting").orElse(0);
            boolean executor = section.flag("executor").orElse(true);
            Pool waiting =
                    section.create(() -> hours.map(pool::withHours).orElse(pool).waitingBeforePreempting(waitMillis));
            Pool kept = executor ? waiting : waiting.withoutExecutor();
            if (count.isPresent() && (most.isPresent() || section.has("nodes"))) {
                throw section.error("a pool must have a capacity or nodes, not both");
            }
            pools.put(id, kept);
            setup.add(new Change.PoolSet(kept));
            section.sections("nodes").forEach(nodeSection -> nodes(id, nodeSection));
        }
    }

    /** Reads the hours of a pool; time 0s is a Thursday, 00:00 in UTC. */
    private static Hours hours(YamlSection given) {
        try (YamlSection section = given) {
            List<Hours.Span> spans = new ArrayList<>();
            for (YamlSection each : section.sections("open")) {
                try (YamlSection span = each) {
                    String from = span.requiredText("from");
                    String to = span.requiredText("to");
                    span.texts("days")
                            .forEach(day -> spans.add(span.create(() ->
                                    Hours.Span.between(DayOfWeek.valueOf(day.toUpperCase(Locale.ROOT)), from, to))));
                }
            }
            return section.create(() -> new Hours(
                    ZoneId.of(section.text("time-zone").orElse("UTC")),
                    spans,
                    section.choice("at-close", Hours.AtClose.class).orElse(Hours.AtClose.GO_ON)));
        }
    }

    private void nodes(PoolId pool, YamlSection given) {
        try (YamlSection section = given) {
            List<String> names = nodeNames(section);
            int gpus = section.integer("gpus").orElse(0);
            if (gpus < 0 || gpus > MAX_GPUS_PER_NODE) {
                throw section.error("a node must have 0 to " + MAX_GPUS_PER_NODE + " GPUs, not " + gpus);
            }
            String model = section.text("gpu-model").orElse("");
            long memoryMiB = section.memory("gpu-memory").orElse(0);
            boolean mig = section.flag("mig").orElse(false);
            boolean schedulable = section.flag("schedulable").orElse(true);
            Optional<String> onlyTenant = section.text("only-tenant");
            List<Device> devices = new ArrayList<>();
            for (int index = 0; index < gpus; index++) {
                devices.add(new Device(index, model, memoryMiB, mig));
            }
            OptionalLong cpuMilli = section.milli("cpu");
            OptionalLong memory = section.memory("memory");
            var labels = section.labels("labels");
            List<String> topology = section.texts("topology");
            for (String name : names) {
                NodeId id = new NodeId(name);
                var node = new io.quartermaster.engine.model.Node(
                        id, pool, true, schedulable, devices, cpuMilli, memory, labels, topology, onlyTenant);
                if (nodes.put(id, node) != null) {
                    throw section.error("node '" + name + "' is given twice");
                }
                setup.add(new Change.NodeSet(node));
            }
        }
    }

    private static List<String> nodeNames(YamlSection section) {
        Optional<String> name = section.text("name");
        OptionalInt count = section.count("count");
        List<String> names = new ArrayList<>(section.texts("names"));
        if (name.isPresent() && count.isEmpty()) {
            names.add(name.get());
        }
        for (int i = 1; name.isPresent() && i <= count.orElse(0); i++) {
            names.add(name.get() + i);
        }
        if (names.isEmpty()) {
            throw section.error("a node must have a name, names, or a name and a count");
        }
        return names;
    }

    /** Reads a quota of the setup, where each path and scope must occur only once. */
    private Quota firstQuota(YamlSection section) {
        long before = quotasRead;
        Quota quota = quota(section);
        if (quotasRead == before) {
            throw section.error("the quota of '" + quota.path() + "' is given twice for one pool");
        }
        return quota;
    }

    /** Reads a quota; absent keys keep the values of an earlier quota for the same path and scope. */
    private Quota quota(YamlSection given) {
        try (YamlSection section = given) {
            QuotaPath path = section.create(() -> QuotaPath.parse(section.requiredText("path")));
            String pool = section.requiredText("pool");
            if (!pool.equals("*") && !pools.containsKey(new PoolId(pool))) {
                throw section.error("there is no pool '" + pool + "'");
            }
            Scope scope = pool.equals("*") ? Scope.ALL_POOLS : Scope.of(new PoolId(pool));
            Map<QuotaPath, Quota> ofScope = quotas.computeIfAbsent(scope, key -> new TreeMap<>());
            Quota before = ofScope.getOrDefault(path, Quota.reserving(path, scope, 0));
            Quota quota = section.create(() -> new Quota(
                    path,
                    scope,
                    section.milli("reserved").orElse(before.reservedGpuMilli()),
                    orElse(section.milli("limit"), before.limitGpuMilli()),
                    orElse(section.milli("weight"), before.weightMilli()),
                    orElse(section.milli("lendable"), before.lendableGpuMilli()),
                    section.integer("rank").orElse(before.rank()),
                    section.flag("over-quota").orElse(before.overQuota()),
                    ofScope.containsKey(path) ? before.sequence() : quotasRead++));
            Quota fenced = section.flag("fence").orElse(before.fence()) ? quota.fenced() : quota;
            ofScope.put(path, fenced);
            Map<QuotaPath, Quota.Override> overrides = this.overrides.computeIfAbsent(scope, key -> new TreeMap<>());
            section.section("override").ifPresent(override -> overrides.put(path, override(override)));
            Map<QuotaPath, Long> drains = this.drains.computeIfAbsent(scope, key -> new TreeMap<>());
            section.duration("drain-by").ifPresent(millis -> drains.put(path, millis));
            Quota.Override override = overrides.get(path);
            Quota whole = override == null ? fenced : fenced.withOverride(override);
            return drains.containsKey(path) ? whole.drainedBy(drains.get(path)) : whole;
        }
    }

    private static Quota.Override override(YamlSection given) {
        try (YamlSection section = given) {
            return section.create(() -> new Quota.Override(
                    section.milli("reserved"),
                    section.milli("limit"),
                    section.duration("from"),
                    section.duration("until").orElseThrow(() -> section.error("'until' is missing"))));
        }
    }

    /** Reads a budget: the GPU time that remains from a moment on. */
    private Change.BudgetSet budget(YamlSection given, long atMillis, long graceMillis) {
        try (YamlSection section = given) {
            QuotaPath path = section.create(() -> QuotaPath.parse(section.requiredText("path")));
            String pool = section.requiredText("pool");
            if (!pool.equals("*") && !pools.containsKey(new PoolId(pool))) {
                throw section.error("there is no pool '" + pool + "'");
            }
            long gpuHoursMilli = section.milli("gpu-hours").orElseThrow(() -> section.error("'gpu-hours' is missing"));
            return section.create(() -> new Change.BudgetSet(
                    path,
                    pool.equals("*") ? Scope.ALL_POOLS : Scope.of(new PoolId(pool)),
                    Math.multiplyExact(gpuHoursMilli, HOUR_MILLIS),
                    0,
                    atMillis,
                    graceMillis));
        }
    }

    private void capacityReservation(YamlSection given) {
        try (YamlSection section = given) {
            QuotaPath path = section.create(() -> QuotaPath.parse(section.requiredText("path")));
            PoolId pool = new PoolId(section.requiredText("pool"));
            if (!quotas.getOrDefault(Scope.of(pool), Map.of()).containsKey(path)) {
                throw section.error("there is no quota of '" + path + "' in pool '" + pool + "'");
            }
            CapacityReservationId id = new CapacityReservationId(String.format(Locale.ROOT, "%06d", setup.size()));
            setup.add(new Change.CapacityReservationSet(section.create(() -> new ReservationWindow(
                    id,
                    path,
                    pool,
                    section.milli("gpus").orElseThrow(() -> section.error("'gpus' is missing")),
                    section.flag("lendable").orElse(true),
                    section.duration("from").orElseThrow(() -> section.error("'from' is missing")),
                    section.duration("until").orElseThrow(() -> section.error("'until' is missing"))))));
        }
    }

    private static OptionalLong orElse(OptionalLong value, OptionalLong otherwise) {
        return value.isPresent() ? value : otherwise;
    }

    private void profile(String id, Node node, WorkloadReader workloads) {
        try (YamlSection section = new YamlSection(node)) {
            List<QuotaPath> order =
                    section.texts("path-order").stream().map(QuotaPath::parse).toList();
            setup.add(new Change.ProfileSet(new ProfileOrder(new ProfileId(id), order)));
            workloads.profile(new ProfileId(id), section);
        }
    }

    private static Change.QueueSet queue(QueueId id, Node node) {
        try (YamlSection section = new YamlSection(node)) {
            return new Change.QueueSet(
                    id, section.choice("order", QueueOrder.class).orElse(QueueOrder.SKIP_AHEAD));
        }
    }

    private Settings settings(YamlSection given) {
        try (YamlSection section = given) {
            Settings standard = Settings.DEFAULT;
            return section.create(() -> standard.toBuilder()
                    .minRuntimeMillis(section.length("min-runtime").orElse(standard.minRuntimeMillis()))
                    .reclaimMinRuntimeMillis(
                            section.length("reclaim-min-runtime").orElse(standard.reclaimMinRuntimeMillis()))
                    .graceMillis(section.length("grace").orElse(standard.graceMillis()))
                    .spill(section.choice("spill", Settings.Spill.class).orElse(standard.spill()))
                    .borrow(section.choice("borrow", Settings.Borrow.class).orElse(standard.borrow()))
                    .consolidate(section.flag("consolidate").orElse(standard.consolidate()))
                    .reclaim(section.choice("reclaim", Settings.Reclaim.class).orElse(standard.reclaim()))
                    .patienceMillis(section.length("patience"))
                    .backfillReservations(
                            section.integer("backfill-reservations").orElse(standard.backfillReservations()))
                    .fairnessWindowMillis(section.positiveLength("fairness-window"))
                    .staleGangGraceMillis(section.duration("stale-gang-grace"))
                    .entryPenaltyMillis(section.duration("entry-penalty").orElse(0))
                    .settings());
        }
    }

    private List<Scenario.Event> timeline(List<YamlSection> sections, WorkloadReader workloads, Settings settings) {
        List<Moment> inOrder = new ArrayList<>();
        for (YamlSection section : sections) {
            inOrder.add(
                    new Moment(section.duration("at").orElseThrow(() -> section.error("'at' is missing")), section));
        }
        // A later moment may refer to an earlier one, whatever their order in the file.
        inOrder.sort(Comparator.comparingLong(Moment::atMillis));
        List<Scenario.Event> events = new ArrayList<>();
        for (Moment moment : inOrder) {
            long at = moment.atMillis();
            try (YamlSection section = moment.section()) {
                if (at < 0) {
                    throw section.error("'at' must not be before 0s");
                }
                List<Scenario.Act> acts = new ArrayList<>();
                for (String key : List.of("finish", "cancel", "fail")) {
                    section.texts(key)
                            .forEach(id -> acts.add(new Scenario.Act.End(workloads.requireKnown(section, id))));
                }
                section.texts("node-down").forEach(id -> acts.add(new Scenario.Act.NodeDown(node(section, id))));
                section.texts("node-up").forEach(id -> acts.add(new Scenario.Act.NodeUp(node(section, id))));
                section.sections("set-quota").forEach(quota -> acts.add(new Scenario.Act.SetQuota(quota(quota))));
                section.entries("order-queue")
                        .forEach((id, node) -> acts.add(new Scenario.Act.OrderQueue(
                                workloads.queue(section, id),
                                YamlSection.elements(node).stream()
                                        .map(YamlSection::scalar)
                                        .map(name -> workloads.requireKnown(section, name))
                                        .toList())));
                section.entries("set-queue")
                        .forEach((id, node) ->
                                acts.add(new Scenario.Act.SetQueue(queue(workloads.queue(section, id), node))));
                section.sections("set-budget")
                        .forEach(
                                each -> acts.add(new Scenario.Act.SetBudget(budget(each, at, settings.graceMillis()))));
                workloads.jobs(section.sections("submit"), at).forEach(job -> acts.add(new Scenario.Act.Submit(job)));
                events.add(new Scenario.Event(at, acts));
            }
        }
        return events;
    }

    private record Moment(long atMillis, YamlSection section) {}

    private NodeId node(YamlSection section, String name) {
        NodeId id = new NodeId(name);
        if (!nodes.containsKey(id)) {
            throw section.error("there is no node '" + name + "'");
        }
        return id;
    }
}
