package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.ProfileId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadPhase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * A scheduling class: waiting workloads of one group with the same shape and terms, which share one verdict per plan.
 * The further workers of a running elastic workload are a class of their own.
 */
record Line(Key key, List<Workload> members) {

    /**
     * The properties that all members share.
     *
     * @param user present where a cap per user makes a difference
     * @param maxRuntimeMillis present where the run time makes a difference
     * @param growing the running workload that requests further workers
     */
    record Key(
            QuotaPath path,
            Optional<String> user,
            Optional<ProfileId> profile,
            Shape shape,
            List<PoolId> pools,
            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            OptionalLong maxRuntimeMillis,
            Optional<WorkloadId> growing) {}

    /** Victims first, which wait at the head of their priority; then first submitted. */
    static final Comparator<Workload> FIRST_SUBMITTED = Comparator.comparing((Workload workload) -> !isAtHead(workload))
            .thenComparingLong(Workload::submittedMillis)
            .thenComparingLong(Workload::sequence)
            .thenComparing(Workload::id);

    /** Higher priority first, where neither quotas nor queues give an order. */
    static final Comparator<Workload> IN_TURN =
            Comparator.comparingInt((Workload workload) -> -workload.priority()).thenComparing(FIRST_SUBMITTED);

    static boolean isAtHead(Workload workload) {
        return workload.state() instanceof WorkloadPhase.Waiting waiting && waiting.atHead();
    }

    /** The classes of the waiting work. */
    static List<Line> of(Facts facts, Settings settings) {
        Map<Key, List<Workload>> lines = new LinkedHashMap<>();
        for (Workload workload : facts.workloads.values()) {
            if (!workload.held() && workload.nomination().isEmpty()) {
                key(workload, facts, settings).ifPresent(key -> lines.computeIfAbsent(key, same -> new ArrayList<>())
                        .add(workload));
            }
        }
        List<Line> all = new ArrayList<>();
        lines.forEach((key, members) -> {
            members.sort(FIRST_SUBMITTED);
            all.add(new Line(key, members));
        });
        return all;
    }

    private static Optional<Key> key(Workload workload, Facts facts, Settings settings) {
        return switch (workload.state()) {
            case WorkloadPhase.Waiting waiting -> Optional.of(waitingKey(workload, facts, settings));
            case WorkloadPhase.Holding holding ->
                holding.phase().isStaying()
                                && holding.allocation().workers().size()
                                        < workload.shape().allWorkers()
                        ? Optional.of(new Key(
                                workload.path(),
                                workload.user(),
                                workload.profile(),
                                workload.shape(),
                                List.of(holding.allocation().pool()),
                                workload.priority(),
                                workload.preemptible(),
                                workload.dedicatedOnly(),
                                OptionalLong.empty(),
                                Optional.of(workload.id())))
                        : Optional.empty();
        };
    }

    static Key waitingKey(Workload workload, Facts facts, Settings settings) {
        boolean userMatters = workload.path().fromTenant().stream()
                .map(facts.caps::get)
                .anyMatch(cap -> cap != null && cap.perUserGpuMilli().isPresent());
        return new Key(
                workload.path(),
                userMatters ? workload.user() : Optional.empty(),
                workload.profile(),
                workload.shape(),
                workload.pools(),
                workload.priority(),
                workload.preemptible(),
                workload.dedicatedOnly(),
                settings.patienceMillis().isPresent() ? workload.maxRuntimeMillis() : OptionalLong.empty(),
                Optional.empty());
    }

    Workload head() {
        return members.getFirst();
    }

    boolean isGrowth() {
        return key.growing.isPresent();
    }

    /** The numbers of the workers that the head requests: its minimum, or the first that it lacks. */
    List<Integer> numbers() {
        if (head().state() instanceof WorkloadPhase.Holding holding) {
            var has = Holdings.numbers(holding.allocation());
            return IntStream.range(0, key.shape.allWorkers())
                    .filter(number -> !has.contains(number))
                    .limit(1)
                    .boxed()
                    .toList();
        }
        return IntStream.range(0, key.shape.minWorkers()).boxed().toList();
    }
}
