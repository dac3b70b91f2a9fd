package io.quartermaster.engine.explain;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.RandomCell;
import io.quartermaster.engine.RandomCells;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.placement.ShapeFit;
import io.quartermaster.engine.quota.CapIndex;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import io.quartermaster.engine.quota.QuotaTree;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Checks the texts of reasons against the rules of style. */
class ReasonTextTest {
    private static final PoolId POOL = new PoolId("demo");
    private static final QuotaPath ACME = QuotaPath.of("acme");
    private static final QuotaPath RND = QuotaPath.of("acme", "rnd");
    private static final QuotaPath NLP = QuotaPath.of("acme", "rnd", "nlp");
    private static final long[] AMOUNTS = {0, 250, 1000, 1250, 2000, 5000};

    private static final Set<String> VERBS = Set.of("Ask", "State", "Submit", "Wait");
    private static final List<Pattern> FAULTS = List.of(
            Pattern.compile("(?<![\\w.])1 (more |whole |fewer )?(GPUs|workloads|workers|CPUs)\\b"),
            Pattern.compile("(?<![\\w.])1 (GPU )?are\\b"),
            Pattern.compile("(?<![\\w.])(?!1 )[\\d.]+ (more |whole |fewer )?(GPU|workload|worker|CPU)\\b(?!-)"),
            Pattern.compile("(?<![\\w.])(?!1 )[\\d.]+ (GPUs )?is\\b"),
            Pattern.compile("\\b(?i:nobody|nothing:|whoever|the same|by that|somebody)\\b"),
            Pattern.compile("\\d{4}-\\d{2}-\\d{2}T"),
            Pattern.compile("acme/"),
            Pattern.compile("-\\d+ (GPU|of)"),
            Pattern.compile(" {2}|\\.\\.|\\bnull\\b|Optional"));

    private static void hold(Reason reason) {
        String all = reason.sentence() + " " + reason.remedy();
        assertThat(reason.sentence()).matches("(?s)[A-Z\\d].*\\.");
        assertThat(reason.remedy()).endsWith(".").satisfies(remedy -> assertThat(VERBS)
                .contains(remedy.substring(0, remedy.indexOf(' '))));
        // Only the relief names a sufficient amount, because it includes other waiting work.
        assertThat(reason.remedy()).doesNotContainPattern("\\d GPU|at least");
        assertThat(FAULTS).allSatisfy(fault -> assertThat(fault.matcher(all).find())
                .as(fault + " in: " + all)
                .isFalse());
        assertThat(all).doesNotContain("It waits:", "first to give way").doesNotContainPattern("GPUs? more come");
    }

    private static List<ReasonText> texts() {
        List<ReasonText> texts = new ArrayList<>();
        for (long requested : AMOUNTS) {
            for (long free : AMOUNTS) {
                for (ReasonText.NodeChoice where : ReasonText.NodeChoice.values()) {
                    texts.add(new ReasonText(POOL, requested, free, OptionalLong.empty(), 3000, where, true));
                    if (requested % 1000 == 0) {
                        texts.add(new ReasonText(
                                POOL, requested, free, OptionalLong.of(free / 1000), 3000, where, false));
                    }
                }
            }
        }
        return texts;
    }

    @Test
    void whatIsSaidOfPoolsAndTimesKeepsTheRules() {
        hold(ReasonText.unknownPool(POOL, true));
        for (ReasonText text : texts()) {
            hold(text.suspended(ACME));
            hold(text.suspended(RND));
            hold(text.closed(OptionalLong.empty()));
            hold(text.closed(OptionalLong.of(1_790_000_000_000L)));
            hold(text.closes(1_790_000_000_000L));
            hold(text.neverOpenLongEnough(true));
            hold(text.neverOpenLongEnough(false));
            hold(text.closedTo(RND, Scope.ALL_POOLS, 1_790_000_000_000L));
            hold(text.budget(RND, true));
            hold(text.budget(ACME, false));
            hold(text.nominated());
            hold(text.noSuchNode(1, Optional.empty()));
            hold(text.noSuchNode(3, Optional.of("the pool has no nodes")));
            hold(text.noExecutor());
            hold(text.nodesClosed());
            hold(text.behind(1000));
            hold(text.behind(3000));
            hold(text.notItsTurn(true));
            for (ReasonText.RoomCondition room : ReasonText.RoomCondition.values()) {
                hold(text.noCapacity(room));
                hold(text.fragmented(1, room));
                hold(text.fragmented(2, room));
            }
            assertThat(text.nominated().sentence()).doesNotContainPattern("(is|are) in demo");
        }
    }

    @Test
    void whatIsSaidOfBoundsKeepsTheRules() {
        TreeMap<QuotaPath, Quota> quotas = new TreeMap<>();
        quotas.put(ACME, Quota.reserving(ACME, Scope.of(POOL), 8000));
        quotas.put(RND, Quota.reserving(RND, Scope.of(POOL), 5000).withLimit(6000));
        quotas.put(NLP, Quota.reserving(NLP, Scope.of(POOL), 1000));
        QuotaTree tree = QuotaTree.of(Scope.of(POOL), quotas, new TreeSet<>(List.of(RND, NLP)));
        QuotaTree all = QuotaTree.of(Scope.ALL_POOLS, quotas, new TreeSet<>(List.of(RND, NLP)));
        List<QuotaNode> nodes = List.of(tree.leaf(RND), tree.leaf(NLP), tree.leaf(ACME), all.leaf(NLP));
        TreeMap<QuotaPath, ConcurrencyCaps> concurrencyCaps = new TreeMap<>();
        concurrencyCaps.put(RND, new ConcurrencyCaps(RND, OptionalLong.of(4000), OptionalInt.of(2)));
        CapIndex capIndex = new CapIndex(concurrencyCaps);
        for (ReasonText text : texts()) {
            for (QuotaNode node : text.requested() == 0 ? List.<QuotaNode>of() : nodes) {
                for (long used : AMOUNTS) {
                    for (QuotaAdmission.Bound bound : QuotaAdmission.Bound.values()) {
                        switch (bound) {
                            case USER_CAP, WORKLOAD_CAP ->
                                capIndex.over(RND, Optional.of("ann")).stream()
                                        .filter(cap -> cap.user().isEmpty() || used + text.requested() > 4000)
                                        .forEach(cap -> hold(text.bound(
                                                new QuotaAdmission.Violation(
                                                        bound,
                                                        node,
                                                        Optional.of(cap),
                                                        cap.user().isPresent() ? used : used / 1000,
                                                        cap.max()),
                                                true)));
                            case HELD_FOR_OTHERS -> {
                                hold(text.bound(held(tree.root(), used, used + text.requested() - 1000), used > 0));
                                QuotaNode group =
                                        Objects.requireNonNull(tree.leaf(NLP).parent());
                                long least = Math.max(0, 6000 - text.requested() + 1000);
                                hold(text.bound(held(group, least, 6000 - 1000), used > 0));
                            }
                            default ->
                                hold(text.bound(
                                        new QuotaAdmission.Violation(
                                                bound,
                                                node,
                                                Optional.empty(),
                                                used,
                                                Math.max(0, used + text.requested() - 1000)),
                                        true));
                        }
                    }
                }
            }
        }
    }

    private static QuotaAdmission.Violation held(QuotaNode node, long used, long bound) {
        return new QuotaAdmission.Violation(
                QuotaAdmission.Bound.HELD_FOR_OTHERS, node, Optional.empty(), Math.min(used, 6000), Math.max(0, bound));
    }

    @Test
    void aLimitUnderWhichOtherGroupsKeepWhatTheyDoNotLendIsNamed() {
        QuotaPath ops = QuotaPath.of("acme", "ops");
        Engine engine = new Engine(Settings.DEFAULT);
        engine.apply(List.of(
                new Change.PoolSet(Pool.ofCount(POOL, 8000)),
                new Change.QuotaSet(Quota.reserving(ACME, Scope.of(POOL), 3000).withLimit(4000)),
                new Change.QuotaSet(new Quota(
                        ops,
                        Scope.of(POOL),
                        3000,
                        OptionalLong.empty(),
                        OptionalLong.empty(),
                        OptionalLong.of(0),
                        0,
                        true)),
                new Change.QuotaSet(Quota.reserving(RND, Scope.of(POOL), 0)),
                new Change.WorkloadSet(
                        Workload.waiting(new WorkloadId("w"), RND, Shape.ofWholeGpus(2), List.of(POOL), 0, 0))));
        engine.plan(0);

        Reason reason =
                engine.explain(new WorkloadId("w")).orElseThrow().perPool().getFirst();

        assertThat(reason.code()).isEqualTo(Reason.Code.HELD_FOR_OTHERS);
        assertThat(reason.sentence())
                .isEqualTo(
                        "Tenant acme may hold at most 4 GPUs in demo, and holds 0. 3 GPUs are reserved for its groups"
                                + " that do not lend; this workload needs 2 GPUs and may use 1.");
        assertThat(reason.remedy()).isEqualTo("Ask the operator to raise the limit of tenant acme in demo.");
        hold(reason);
    }

    @Test
    @Tag("properties")
    void whatRandomCellsSayKeepsTheRules() {
        RandomCells.forEach(90, (seed, judged) -> {
            RandomCell cell = new RandomCell(seed);
            for (int event = 0; event < RandomCells.EVENTS; event++) {
                cell.happen();
                cell.plan();
                for (WaitReasons waitReasons : cell.engine.waits()) {
                    waitReasons.perPool().forEach(reason -> {
                        judged.check();
                        hold(reason);
                    });
                }
            }
        });
    }

    @Test
    void aQuarterOfASharedGpuIsNotOfferedToWorkThatNeedsWholeGpus() {
        Reason reason = new ReasonText(POOL, 2000, 1250, OptionalLong.of(1), 0, ReasonText.NodeChoice.ANY_NODE, true)
                .noCapacity(ReasonText.RoomCondition.WHEN_WORK_ENDS);
        assertThat(reason.sentence()).isEqualTo("This workload needs 2 whole GPUs in demo; 1 is free.");
        assertThat(reason.remedy())
                .isEqualTo("Wait until enough GPUs come free in demo, or submit to a queue that uses another pool.");
    }

    @Test
    void aGroupThatHoldsNothingIsNotAskedToGiveBack() {
        TreeMap<QuotaPath, Quota> quotas = new TreeMap<>();
        quotas.put(NLP, Quota.reserving(NLP, Scope.ALL_POOLS, 0).withLimit(3000));
        QuotaNode nlp = QuotaTree.of(Scope.ALL_POOLS, quotas, new TreeSet<>(List.of(NLP)))
                .leaf(NLP);
        Reason reason = new ReasonText(POOL, 4000, 9000, OptionalLong.of(9), 0, ReasonText.NodeChoice.ANY_NODE, true)
                .bound(new QuotaAdmission.Violation(QuotaAdmission.Bound.LIMIT, nlp, Optional.empty(), 0, 3000), true);
        assertThat(reason.sentence())
                .isEqualTo(
                        "This workload needs 4 GPUs, and group /rnd/nlp may hold at most 3 GPUs in all pools together.");
        assertThat(reason.remedy())
                .isEqualTo("Submit a smaller workload, or ask an admin to raise the limit of group /rnd/nlp in all "
                        + "pools together.");
    }

    @Test
    void whereGroupsBelowHaveAPartOfWhatIsReservedBothAmountsAreSaid() {
        TreeMap<QuotaPath, Quota> quotas = new TreeMap<>();
        quotas.put(RND, Quota.reserving(RND, Scope.of(POOL), 5000));
        quotas.put(NLP, Quota.reserving(NLP, Scope.of(POOL), 2000));
        QuotaNode own = QuotaTree.of(Scope.of(POOL), quotas, new TreeSet<>(List.of(RND, NLP)))
                .leaf(RND);
        Reason reason = new ReasonText(POOL, 1000, 4000, OptionalLong.of(4), 0, ReasonText.NodeChoice.ANY_NODE, true)
                .bound(
                        new QuotaAdmission.Violation(
                                QuotaAdmission.Bound.OVER_QUOTA_OFF, own, Optional.empty(), 3000, 3000),
                        true);
        assertThat(reason.sentence())
                .contains("Group /rnd holds 3 of the 3 GPUs reserved for its own work in demo (5 GPUs are reserved for"
                        + " group /rnd, of which 2 are reserved for groups below it)");
    }

    @Test
    void aShapeThatNoNodeCanTakeSaysWhichNeedIsUnmet() {
        List<Node.Device> devices = new ArrayList<>();
        for (int index = 0; index < 10; index++) {
            devices.add(new Node.Device(index, "H100", 81_920, false));
        }
        Node node = new Node(
                new NodeId("n1"),
                POOL,
                true,
                true,
                devices,
                OptionalLong.of(32_000),
                OptionalLong.of(64_000),
                Collections.emptySortedMap(),
                List.of());
        ShapeFit fit = new ShapeFit(Pool.ofNodes(POOL), List.of(node));
        assertThat(fit.unmetNeed(
                        Shape.ofWorkers(1, new GpuRequest.Mig("1g.10gb")).shape()))
                .hasValue("it needs a MIG instance 1g.10gb, and no GPU of the pool has MIG enabled");
        assertThat(fit.unmetNeed(Shape.ofWholeGpus(16)))
                .hasValue("it needs 16 GPUs on one node, and no node of the pool has as many");
        assertThat(fit.unmetNeed(Shape.gang(3, 4))).hasValue("it needs 12 GPUs in all, and the pool has fewer");
        assertThat(fit.unmetNeed(
                        Shape.ofWorkers(1, new GpuRequest.Memory(1, 90_000)).shape()))
                .hasValue("it needs 90000 MiB of memory on one GPU, and no GPU of the pool has as much");
        assertThat(fit.unmetNeed(
                        Shape.ofWorkers(1, GpuRequest.whole(1)).cpuMilli(64_000).shape()))
                .hasValue("it needs 64 CPUs on one node, and no node of the pool has as much");
        TreeMap<String, String> labels = new TreeMap<>();
        labels.put("zone", "b");
        assertThat(fit.unmetNeed(
                        Shape.ofWorkers(1, GpuRequest.whole(1)).labels(labels).shape()))
                .hasValue("it needs a node with the label zone=b, and no node of the pool has this label");
        assertThat(fit.unmetNeed(Shape.ofWorkers(1, GpuRequest.whole(1))
                        .requiredLevel(Optional.of("rack"))
                        .shape()))
                .hasValue("it needs the topology level rack, and the pool has no level of this name");
        assertThat(fit.unmetNeed(Shape.ofWholeGpus(10))).isEmpty();
    }
}
