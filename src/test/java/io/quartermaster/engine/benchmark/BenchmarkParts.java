package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.EngineSteps;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The parts of the benchmark. Each writes a section of the report. */
final class BenchmarkParts {

    /**
     * Limits of a run.
     *
     * @param nanos the CPU time after which a fill is abandoned, and after which no further round or event begins
     * @param warmUp rounds before those that are measured
     * @param events the most events that are measured; as many at most come before, to warm up
     * @param block the events of one block of the churn
     */
    record Limits(long nanos, int warmUp, int rounds, int events, int block, int blocks) {
        static Limits configured() {
            return new Limits(
                    Long.getLong("qm.bench.seconds", 120) * 1_000_000_000L,
                    Integer.getInteger("qm.bench.warmup", 2),
                    Integer.getInteger("qm.bench.rounds", 3),
                    Integer.getInteger("qm.bench.events", 5_000),
                    Integer.getInteger("qm.bench.block", 1_000),
                    Integer.getInteger("qm.bench.blocks", 30));
        }

        String seconds() {
            return nanos / 1_000_000_000L + " s of cpu";
        }

        long fromNow() {
            return CellShell.cpuNanos() + nanos;
        }
    }

    private static final int IDLE_PLANS = 50;
    private static final int FORKS = 5;
    private static final int CHANGES = 20;

    private final CellScale scale;
    private final Limits limits;
    private final BenchmarkReport report;
    private final Violations violations;

    BenchmarkParts(CellScale scale, Limits limits, BenchmarkReport report, Violations violations) {
        this.scale = scale;
        this.limits = limits;
        this.report = report;
        this.violations = violations;
    }

    private static boolean isBefore(long untilNanos) {
        return untilNanos - CellShell.cpuNanos() > 0;
    }

    private static String millis(double millis) {
        return String.format(Locale.ROOT, "%.3f ms", millis);
    }

    private FilledCell fillOnce(CellVariant variant) {
        return FilledCell.fill(new RepresentativeCell(scale, variant), scale.seed() + 3, violations, limits.fromNow());
    }

    /** The costs of the fills, which all end in the same state, and the cell of the last fill, for events. */
    private record Fills(FillCost cold, List<FillCost> warm, FilledCell last) {
        /** The median of the warm fills; without any, the cold one. */
        FillCost typical() {
            List<FillCost> sorted = new ArrayList<>(warm);
            sorted.sort(Comparator.comparingLong(FillCost::cpuNanos));
            return warm.isEmpty() ? cold : sorted.get(sorted.size() / 2);
        }

        String kind() {
            return warm.isEmpty() ? "the only fill that ended in time" : "median of " + warm.size() + " warm fills";
        }
    }

    private Fills fills(CellVariant variant, int warmUp, int rounds) {
        FilledCell last = fillOnce(variant);
        FillCost cold = last.cost();
        List<FillCost> warm = new ArrayList<>();
        long until = limits.fromNow();
        for (int round = 1; cold.isComplete() && round < warmUp + rounds && isBefore(until); round++) {
            FilledCell next = fillOnce(variant);
            if (next.cost().isComplete()) {
                last = next;
                // With few rounds before the time is over, every one after the first counts as warm.
                if (round >= warmUp || !isBefore(until)) {
                    warm.add(next.cost());
                }
            }
        }
        return new Fills(cold, warm, last);
    }

    /** Measures events until a number or the time is reached; a plan that takes too long ends it. */
    private Samples events(FilledCell cell, int most, long untilNanos) {
        Samples samples = new Samples();
        try {
            while (!cell.isAbandoned() && samples.size() < most && isBefore(untilNanos)) {
                samples.add(cell.nextEvent(untilNanos + limits.nanos()));
            }
        } catch (EngineSteps.PlanAbandoned abandoned) {
            report.stopped("One plan of an event did not end within " + limits.seconds() + ".");
        }
        return samples;
    }

    void fill() {
        report.section("fill: representative cell, " + scale.text());
        Fills fills = fills(CellVariant.BASE, limits.warmUp(), limits.rounds());
        report.head("what", "figure", "goal");
        if (!fills.cold().isComplete()) {
            String text =
                    "stopped after " + limits.seconds() + ": " + fills.cold().text();
            report.row("Fill", text, Goal.FILL, fills.cold().startsPerCpuSecond());
            report.stopped("Without a full cell, there are no other figures.");
            return;
        }
        report.row("First fill of the process", fills.cold().text(), "");
        FillCost typical = fills.typical();
        report.row("Fill, " + fills.kind(), typical.text(), Goal.FILL, typical.startsPerCpuSecond());
        report.row(
                "Plans until nothing more is decided",
                Integer.toString(typical.plans()),
                Goal.PLANS_OF_FILL,
                typical.plans());
        FilledCell cell = fills.last();
        double allocated = allocated(cell);
        report.row("Allocated by the fill", percent(allocated), Goal.ALLOCATED, allocated);
        double last = typical.lastPlanMillis();
        report.row("Plan that ends the fill and decides nothing", millis(last), Goal.IDLE_PLAN, last);
        Samples idle = cell.idlePlans(IDLE_PLANS, limits.fromNow());
        report.row("Plan after a held workload came or went, median", idle.text(), Goal.IDLE_PLAN, idle.medianMillis());
        report.row(
                "Plan without any news, median", cell.settledPlans(IDLE_PLANS).text(), "");
        report.row("A fork, median", cell.forks(FORKS).text(), "");
        int moves = cell.shell().moves();
        int evictions = cell.shell().evictions();
        events(cell, limits.events(), CellShell.cpuNanos() + limits.nanos() / 4);
        Samples events = events(cell, limits.events(), limits.fromNow());
        if (events.isEmpty()) {
            report.stopped("No event was measured.");
            return;
        }
        String what = String.format(
                Locale.ROOT,
                " of %,d events (since the fill %d moves, %d evictions)",
                events.size(),
                cell.shell().moves() - moves,
                cell.shell().evictions() - evictions);
        report.row("p50" + what, millis(events.medianMillis()), Goal.EVENT_P50, events.medianMillis());
        report.row("p99", millis(events.millis(990)), Goal.EVENT_P99, events.millis(990));
        report.row("Longest", millis(events.maxMillis()), Goal.EVENT_MAX, events.maxMillis());
    }

    private static String percent(double part) {
        return String.format(Locale.ROOT, "%.1f %%", part * 100);
    }

    private static double allocated(FilledCell cell) {
        Fragmentation found = Fragmentation.of(cell.shell().model());
        return 1 - found.free();
    }

    /** The cost of a variant. */
    private record VariantCost(double perStartMicros, Samples events) {}

    void features() {
        report.section("features: each alone on the representative cell, " + scale.text());
        report.head("cell", "fill", "plan that decides nothing", "event p50, p99, max", "beside the cell without it");
        // Otherwise the first cell would pay for the JIT compiler, and every other would look better beside it.
        FilledCell warmUp = fillOnce(CellVariant.BASE);
        if (warmUp.cost().isComplete()) {
            events(warmUp, limits.events(), CellShell.cpuNanos() + limits.nanos() / 2);
        }
        Optional<VariantCost> base = Optional.empty();
        for (CellVariant variant : CellVariant.values()) {
            Optional<VariantCost> cost = measure(variant, base);
            base = variant == CellVariant.BASE ? cost : base;
        }
    }

    private Optional<VariantCost> measure(CellVariant variant, Optional<VariantCost> base) {
        Fills fills = fills(variant, 1, 2);
        if (!fills.cold().isComplete()) {
            report.stopped("The fill did not end: " + variant.text() + ".");
            report.row(
                    variant.text(),
                    "stopped after " + limits.seconds() + ": " + fills.cold().text(),
                    "",
                    "",
                    "");
            return Optional.empty();
        }
        FillCost typical = fills.typical();
        events(fills.last(), limits.events() / 4, CellShell.cpuNanos() + limits.nanos() / 8);
        Samples events = events(fills.last(), limits.events() / 2, CellShell.cpuNanos() + limits.nanos() / 2);
        if (events.isEmpty()) {
            report.stopped("No event was measured: " + variant.text() + ".");
            return Optional.empty();
        }
        VariantCost cost = new VariantCost(typical.microsPerStart(), events);
        String beside = base.map(without -> {
                    double fill = cost.perStartMicros() / without.perStartMicros();
                    double p50 = events.medianMillis() / without.events().medianMillis();
                    double p99 = events.millis(990) / without.events().millis(990);
                    String text = String.format(Locale.ROOT, "fill %.2f, event p50 %.2f, p99 %.2f", fill, p50, p99);
                    return variant.isFeature()
                            ? text + "; "
                                    + report.judge(
                                            variant.text(), Goal.FEATURE_RATIO, Math.max(Math.max(fill, p50), p99))
                            : text;
                })
                .orElse("");
        report.row(
                variant.text(),
                typical.text(),
                millis(typical.lastPlanMillis()),
                String.format(
                        Locale.ROOT,
                        "%.3f, %.3f, %.3f ms of %,d",
                        events.medianMillis(),
                        events.millis(990),
                        events.maxMillis(),
                        events.size()),
                beside);
        return Optional.of(cost);
    }

    void even() {
        report.section("even: the even cell of engine.md");
        report.line("The goals are the figures of engine.md. The fill is that of the plan alone, as there.");
        report.line("");
        report.head("what", "figure", "goal");
        even(new EvenCell(false), Goal.EVEN_FILL, Goal.EVEN_IDLE_PLAN, Goal.EVEN_EVENT_P50, Goal.EVEN_EVENT_P99);
        even(
                new EvenCell(true),
                Goal.EVEN_FILL_MIX,
                Goal.EVEN_IDLE_PLAN_MIX,
                Goal.EVEN_EVENT_P50_MIX,
                Goal.EVEN_EVENT_P99_MIX);
    }

    private void even(EvenCell even, Goal fillGoal, Goal idleGoal, Goal p50Goal, Goal p99Goal) {
        int warmUp = 15;
        int rounds = 15;
        Samples idle = new Samples();
        List<FillCost> fills = new ArrayList<>();
        FilledCell last = FilledCell.fill(even, scale.seed(), violations, limits.fromNow());
        long until = limits.fromNow();
        for (int round = 0; round < warmUp + rounds && (round < 2 || isBefore(until)); round++) {
            if (!last.cost().isComplete()) {
                report.stopped("The fill of the even cell did not end within " + limits.seconds() + ".");
                return;
            }
            last = FilledCell.fill(even, scale.seed(), violations, limits.fromNow());
            if (round == warmUp || round < warmUp && !isBefore(until)) {
                fills.clear();
                idle = new Samples();
            }
            fills.add(last.cost());
            idle.add(last.cost().lastPlanNanos().orElse(0));
        }
        fills.sort(Comparator.comparingLong(FillCost::planNanos));
        FillCost typical = fills.get(fills.size() / 2);
        double plan = typical.decidingMillis();
        report.row("Fill, median of " + fills.size() + ", " + even.text(), millis(plan), fillGoal, plan);
        report.row("All of it, " + even.text(), typical.text(), "");
        report.row(
                "First plan after it that decides nothing, " + even.text(), idle.text(), idleGoal, idle.medianMillis());
        Samples events = new Samples();
        int ends = 20_000;
        for (int i = 0; i < ends && isBefore(until + limits.nanos()); i++) {
            if (i == ends * 3 / 4) {
                events = new Samples();
            }
            events.add(last.nextEnd());
        }
        if (events.isEmpty()) {
            report.stopped("No event was measured.");
            return;
        }
        report.row(
                "One end to the decision, p50, " + even.text(),
                millis(events.medianMillis()),
                p50Goal,
                events.medianMillis());
        report.row("p99 of " + events.size(), millis(events.millis(990)), p99Goal, events.millis(990));
    }

    void changes() {
        report.section("changes: of nodes, policies and queues in the representative cell, " + scale.text());
        RepresentativeCell source = new RepresentativeCell(scale, CellVariant.BASE);
        FilledCell cell = FilledCell.fill(source, scale.seed() + 3, violations, limits.fromNow());
        if (!cell.cost().isComplete()) {
            report.stopped("The fill was stopped after " + limits.seconds() + ": "
                    + cell.cost().text());
            return;
        }
        report.line("CPU time of the change with its plan. The first of each kind is dropped.");
        report.line("");
        report.head("what", "figure", "goal");
        Samples down = new Samples();
        Samples lost = new Samples();
        Samples up = new Samples();
        long until = limits.fromNow();
        List<Node> nodes = cell.shell().model().nodes().stream()
                .flatMap(each -> Optional.ofNullable(each.node).stream())
                .sorted(Comparator.comparing(Node::id))
                .toList();
        for (int i = 0; i <= CHANGES && (i < 2 || isBefore(until)); i++) {
            Node node = nodes.get(cell.random().nextInt(nodes.size()));
            measured(down, i, cell.change(List.of(new Change.NodeSet(node.down()))));
            measured(lost, i, cell.change(lose(cell, node.id())));
            cell.settle();
            measured(up, i, cell.change(List.of(new Change.NodeSet(node))));
            cell.settle();
        }
        change("A node is lost", down);
        change("Its work waits again", lost);
        change("It comes back", up);
        Samples policies = new Samples();
        Samples limitsOf = new Samples();
        List<Quota> quotas = source.quotasOfSubgroups();
        until = limits.fromNow();
        for (int i = 0; i <= CHANGES && (i < 2 || isBefore(until)); i++) {
            Quota quota = quotas.get(cell.random().nextInt(quotas.size()));
            measured(policies, i, cell.change(List.of(new Change.QuotaSet(quota.withMoreReserved(1_000)))));
            cell.settle();
            measured(policies, i, cell.change(List.of(new Change.QuotaSet(quota))));
            cell.settle();
            long high = scale.nodes() * RepresentativeCell.GPUS_PER_NODE * 1_000L;
            measured(limitsOf, i, cell.change(List.of(new Change.QuotaSet(quota.withLimit(high)))));
            cell.settle();
            measured(limitsOf, i, cell.change(List.of(new Change.QuotaSet(quota))));
            cell.settle();
        }
        change("A policy reserves one GPU more, or less again", policies);
        change("A policy gets a limit that binds nothing, or loses it again", limitsOf);
        Samples queues = new Samples();
        QueueId queue = source.busiestQueue();
        until = limits.fromNow();
        for (int i = 0; i <= CHANGES && (i < 2 || isBefore(until)); i++) {
            measured(queues, i, cell.change(List.of(new Change.QueueSet(queue, QueueOrder.STRICT_FIFO))));
            cell.settle();
            measured(queues, i, cell.change(List.of(new Change.QueueSet(queue, QueueOrder.SKIP_AHEAD))));
            cell.settle();
        }
        change("A queue becomes strict, or skips ahead again", queues);
    }

    private static void measured(Samples samples, int round, long nanos) {
        if (round > 0) {
            samples.add(nanos);
        }
    }

    private void change(String what, Samples samples) {
        report.row(what, samples.text(), Goal.CHANGE, samples.medianMillis());
    }

    /** All work with a worker on the node waits again. */
    private static List<Change> lose(FilledCell cell, NodeId node) {
        List<WorkloadId> lost = cell.shell().model().workloads().stream()
                .filter(workload -> workload.state() instanceof WorkloadPhase.Holding holding
                        && holding.allocation().touches(node))
                .map(Workload::id)
                .sorted()
                .toList();
        return lost.stream()
                .map(id -> cell.shell().waitsAgain(id, cell.nowMillis()))
                .toList();
    }

    void churn() {
        report.section("churn: ends and arrivals in the representative cell, " + scale.text());
        FilledCell warmUp = fillOnce(CellVariant.BASE);
        if (warmUp.cost().isComplete()) {
            events(warmUp, limits.events(), CellShell.cpuNanos() + limits.nanos() / 4);
        }
        FilledCell cell = warmUp.cost().isComplete() ? fillOnce(CellVariant.BASE) : warmUp;
        if (!cell.cost().isComplete()) {
            report.stopped("The fill was stopped after " + limits.seconds() + ": "
                    + cell.cost().text());
            return;
        }
        report.line("Blocks of " + limits.block() + " events on one cell, after a warm-up on another.");
        report.line("");
        report.head("events", "p50", "p99", "longest", "moves", "evictions", "free", "of it on partly used GPUs");
        Samples lastQuarter = new Samples();
        List<Samples> blocks = new ArrayList<>();
        int events = 0;
        long until = CellShell.cpuNanos() + 4 * limits.nanos();
        while (blocks.size() < limits.blocks() && isBefore(until)) {
            int moves = cell.shell().moves();
            int evictions = cell.shell().evictions();
            Samples block = events(cell, limits.block(), until);
            if (block.size() < limits.block()) {
                report.note("The time was over in the next block, after " + block.size() + " events.");
                break;
            }
            events += block.size();
            blocks.add(block);
            Fragmentation found = Fragmentation.of(cell.shell().model());
            report.row(
                    String.format(Locale.ROOT, "%,d", events),
                    millis(block.medianMillis()),
                    millis(block.millis(990)),
                    millis(block.maxMillis()),
                    Integer.toString(cell.shell().moves() - moves),
                    Integer.toString(cell.shell().evictions() - evictions),
                    percent(found.free()),
                    percent(found.ofFreeOnPartlyUsed()));
        }
        if (blocks.size() < 2) {
            report.stopped("There are fewer than two complete blocks.");
            return;
        }
        double first = blocks.getFirst().millis(990);
        for (Samples block : blocks.subList(blocks.size() - Math.max(1, blocks.size() / 4), blocks.size())) {
            lastQuarter.add(block.atPerMille(990));
        }
        double ratio = lastQuarter.medianMillis() / first;
        report.note(String.format(
                Locale.ROOT,
                "The p99 of the last quarter of the blocks is %.2f times that of the first block; goal: %s.",
                ratio,
                report.judge("p99 of churn", Goal.CHURN_RATIO, ratio)));
    }
}
