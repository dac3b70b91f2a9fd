package io.quartermaster.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.ConcurrencyCaps;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.testing.RandomCases;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Each action that a remedy offers changes the reason or ends the wait, over random cells. A failure names its seed.
 */
@Tag("known-cells")
class RemedyTextsPropertiesTest {
    private static final int MOST_PLANS = 10;
    private static final int EVENTS_BETWEEN = 3;
    private static final int MOST_WAITS = 4;
    private static final long PLENTY = 1_000_000;

    private static final Pattern RAISE =
            Pattern.compile("raise the limit of (tenant|group) (\\S+) in (all pools together|\\w+)");
    private static final Pattern RESERVE = Pattern.compile(
            "reserve more GPUs in (all pools together|\\w+) for (?:the own work of )?(tenant|group) (\\S+)\\.");
    private static final Pattern USER = Pattern.compile("let one user of (tenant|group) (\\S+) hold more GPUs");
    private static final Pattern RUNNING =
            Pattern.compile("let more workloads of (tenant|group) (\\S+) run concurrently");
    private static final Pattern WORK_ENDS =
            Pattern.compile("[Ww]ait until (?:other |a )?work(?:load)? of (tenant|group) (\\S+) ends");

    /** How often the test tried each kind of remedy. */
    private final SortedMap<String, Integer> offered = new TreeMap<>();

    @Test
    void whatARemedyOffersChangesTheReason() {
        RandomCells.forEachKnown(80, (seed, judged) -> hold(new RandomCell(seed), judged));
        RandomCells.forEachKnown(80, (seed, judged) -> hold(RandomCell.ofVictimsThatVary(seed), judged));
        for (String words :
                List.of("raise", "reserve", "user", "running", "ends", "preemptible", "pool", "free", "first")) {
            RandomCells.requireHappened(1, offered.getOrDefault(words, 0), "remedies tried: " + words);
        }
    }

    private void hold(RandomCell cell, RandomCases.Judged judged) {
        for (int event = 1; event <= RandomCells.EVENTS; event++) {
            cell.happen();
            cell.plan();
            if (event % EVENTS_BETWEEN == 0) {
                Engine settled = plannedOut(cell.engine.fork(), cell.nowMillis);
                for (WaitReasons waitReasons :
                        settled.waits().stream().limit(MOST_WAITS).toList()) {
                    for (Reason reason : waitReasons.perPool()) {
                        int before = tried();
                        hold(settled, settled.declaredState().workload(waitReasons.workload()), reason, cell.nowMillis);
                        if (tried() > before) {
                            judged.check();
                        }
                    }
                }
            }
        }
    }

    private int tried() {
        return offered.values().stream().mapToInt(Integer::intValue).sum();
    }

    private static Engine plannedOut(Engine engine, long nowMillis) {
        for (int plans = 0;
                plans < MOST_PLANS && !engine.plan(nowMillis).decisions().isEmpty();
                plans++) {
            // The condition makes plans until one has no decisions.
        }
        return engine;
    }

    private void hold(Engine settled, Workload workload, Reason reason, long nowMillis) {
        if (reason.code() == Reason.Code.HELD_FOR_OTHERS
                && !settled.declaredState().calendar().isEmpty()) {
            // The amount that other tenants do not lend may change only at the next transition of the calendar.
            return;
        }
        String remedy = reason.remedy();
        match(RAISE, remedy)
                .ifPresent(found -> changes("raise", settled, workload, reason, nowMillis, fork -> {
                    QuotaPath path = path(workload, found.group(1), found.group(2));
                    return quota(fork, path, found.group(3))
                            .map(quota -> List.<Change>of(new Change.QuotaSet(quota.withHigherLimit(PLENTY))))
                            .orElse(List.of());
                }));
        match(RESERVE, remedy)
                .ifPresent(found -> changes("reserve", settled, workload, reason, nowMillis, fork -> {
                    QuotaPath path = path(workload, found.group(2), found.group(3));
                    return quota(fork, path, found.group(1))
                            .map(quota -> List.<Change>of(new Change.QuotaSet(quota.withMoreReserved(PLENTY))))
                            .orElse(List.of());
                }));
        match(USER, remedy)
                .ifPresent(found -> changes("user", settled, workload, reason, nowMillis, fork -> {
                    QuotaPath path = path(workload, found.group(1), found.group(2));
                    ConcurrencyCaps concurrencyCaps =
                            Objects.requireNonNull(fork.declaredState().caps().get(path));
                    return List.of(new Change.CapsSet(
                            new ConcurrencyCaps(path, OptionalLong.of(PLENTY), concurrencyCaps.running())));
                }));
        match(RUNNING, remedy)
                .ifPresent(found -> changes("running", settled, workload, reason, nowMillis, fork -> {
                    QuotaPath path = path(workload, found.group(1), found.group(2));
                    ConcurrencyCaps concurrencyCaps =
                            Objects.requireNonNull(fork.declaredState().caps().get(path));
                    return List.of(new Change.CapsSet(
                            new ConcurrencyCaps(path, concurrencyCaps.perUserGpuMilli(), OptionalInt.of(1_000))));
                }));
        match(WORK_ENDS, remedy).ifPresent(found -> {
            QuotaPath path = path(workload, found.group(1), found.group(2));
            changes(
                    "ends",
                    settled,
                    workload,
                    reason,
                    nowMillis,
                    ends(workload.id(), other -> path.covers(other.path())));
        });
        if (remedy.contains("other work of its submitter ends")) {
            changes("submitter", settled, workload, reason, nowMillis, ends(workload.id(), other -> other.user()
                    .equals(workload.user())));
        }
        if (remedy.contains("GPUs come free") || remedy.contains("work ends and leaves enough room")) {
            changes("free", settled, workload, reason, nowMillis, ends(workload.id(), other -> true));
        }
        if (remedy.contains("as preemptible")) {
            changes(
                    "preemptible",
                    settled,
                    workload,
                    reason,
                    nowMillis,
                    fork -> List.of(new Change.WorkloadSet(with(workload, workload.pools(), true, workload.state()))));
        }
        if (remedy.contains("the operator opens a node")) {
            changes(
                    "node",
                    settled,
                    workload,
                    reason,
                    nowMillis,
                    fork -> opened(fork.declaredState().nodes().values()));
        }
        if (remedy.contains("accept work") || remedy.contains("accepts work again")) {
            changes("back", settled, workload, reason, nowMillis, fork -> {
                List<Change> changes =
                        new ArrayList<>(ends(workload.id(), other -> true).in(fork));
                changes.addAll(opened(fork.declaredState().nodes().values()));
                return changes;
            });
        }
        if (remedy.contains("add GPUs to pool")) {
            changes("add", settled, workload, reason, nowMillis, fork -> larger(fork, reason.pool()));
        }
        if (remedy.contains("first in its queue")) {
            changes("first", settled, workload, reason, nowMillis, fork -> first(fork, workload));
        }
        if (remedy.contains("another pool") || remedy.contains("profile or pool")) {
            offered.merge("pool", 1, Integer::sum);
            assertThat(settled.declaredState().pools().keySet()).anySatisfy(pool -> {
                assertThat(workload.pools()).doesNotContain(pool);
                Engine fork = settled.fork();
                fork.apply(List.of(new Change.WorkloadSet(
                        with(workload, List.of(pool), workload.preemptible(), workload.state()))));
                plannedOut(fork, nowMillis);
                assertThat(fork.explain(workload.id())
                                .map(waitReasons -> waitReasons.reason().sentence()))
                        .satisfiesAnyOf(sentence -> assertThat(sentence).isEmpty(), sentence -> assertThat(
                                        sentence.orElseThrow())
                                .doesNotContain("has no quota", "no executor"));
            });
        }
    }

    private interface Remedy {
        List<Change> in(Engine fork);
    }

    private void changes(
            String words, Engine settled, Workload workload, Reason reason, long nowMillis, Remedy remedy) {
        offered.merge(words, 1, Integer::sum);
        Engine fork = settled.fork();
        fork.apply(remedy.in(fork));
        plannedOut(fork, nowMillis);
        List<Reason> after =
                fork.explain(workload.id()).map(WaitReasons::perPool).orElse(List.of());
        assertThat(after)
                .as("%s: %s", words, workload)
                .noneMatch(other -> other.pool().equals(reason.pool())
                        && other.code() == reason.code()
                        && other.path().equals(reason.path())
                        && other.sentence().equals(reason.sentence())
                        && other.remedy().equals(reason.remedy()));
    }

    private static Optional<Matcher> match(Pattern pattern, String remedy) {
        Matcher matcher = pattern.matcher(remedy);
        return matcher.find() ? Optional.of(matcher) : Optional.empty();
    }

    private static QuotaPath path(Workload workload, String kind, String name) {
        return kind.equals("tenant")
                ? QuotaPath.of(name)
                : workload.path().fromTenant().stream()
                        .filter(path ->
                                path.segments().size() > 1 && path.group().equals(name))
                        .findFirst()
                        .orElseThrow();
    }

    private static Optional<Quota> quota(Engine fork, QuotaPath path, String where) {
        return fork.declaredState()
                .quota(path, where.equals("all pools together") ? Scope.ALL_POOLS : Scope.of(new PoolId(where)));
    }

    /** Ends the matching work, and all other waiting work that could take its place before the waiting workload. */
    private static Remedy ends(WorkloadId waiting, Predicate<Workload> which) {
        return fork -> {
            List<Change> changes = new ArrayList<>();
            for (Workload other : fork.declaredState().workloads()) {
                boolean waits = other.state() instanceof WorkloadPhase.Waiting;
                if (!other.id().equals(waiting) && (waits || which.test(other))) {
                    changes.add(new Change.WorkloadRemoved(other.id()));
                }
            }
            return changes;
        };
    }

    private static List<Change> opened(Collection<Node> nodes) {
        return nodes.stream()
                .<Change>map(node -> new Change.NodeSet(node.upAndSchedulable().open()))
                .toList();
    }

    private static List<Change> larger(Engine fork, PoolId id) {
        Pool pool = Objects.requireNonNull(fork.declaredState().pools().get(id));
        if (pool.capacity() instanceof Pool.Capacity.Count) {
            return List.of(new Change.PoolSet(pool.withHigherCount(PLENTY)));
        }
        return fork.declaredState().nodes().values().stream()
                .filter(node -> node.pool().equals(id))
                .<Change>map(node -> new Change.NodeSet(node.withMoreDevices(16)))
                .toList();
    }

    private static List<Change> first(Engine fork, Workload workload) {
        List<Change> changes = new ArrayList<>();
        for (Workload other : fork.declaredState().workloads()) {
            if (other.queue().equals(workload.queue()) && other.state() instanceof WorkloadPhase.Waiting waiting) {
                OptionalLong place = other.id().equals(workload.id()) ? OptionalLong.of(0) : OptionalLong.empty();
                changes.add(new Change.WorkloadSet(other.withState(waiting.at(place))));
            }
        }
        return changes;
    }

    private static Workload with(Workload of, List<PoolId> pools, boolean preemptible, WorkloadPhase state) {
        return new Workload(
                of.id(),
                of.path(),
                of.user(),
                of.profile(),
                of.queue(),
                of.shape(),
                pools,
                of.priority(),
                preemptible,
                of.dedicatedOnly(),
                of.movesBack(),
                of.submittedMillis(),
                of.sequence(),
                of.maxRuntimeMillis(),
                of.held(),
                state,
                of.nomination());
    }
}
