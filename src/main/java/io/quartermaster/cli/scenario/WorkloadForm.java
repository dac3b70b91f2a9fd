package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkerSlice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeSet;

/**
 * Form of a shape, as a profile or a workload of a scenario states it; a workload's profile fills the absent fields.
 */
record WorkloadForm(
        Optional<Gpus> gpus,
        OptionalInt minGpus,
        OptionalInt devices,
        OptionalInt workers,
        OptionalInt minWorkers,
        OptionalLong cpuMilli,
        OptionalLong memoryMiB,
        SortedMap<String, String> labels,
        Optional<String> requiredLevel,
        Optional<String> preferredLevel,
        Optional<WorkerSlice> slice,
        List<WorkloadForm> sets,
        Optional<Boolean> moveBack,
        List<PoolId> pools) {

    /** The requested part of each GPU. */
    private sealed interface Gpus {
        record Amount(long gpuMilli) implements Gpus {}

        record Memory(long memoryMiB) implements Gpus {}

        record Mig(String profile) implements Gpus {}
    }

    /** @param known the declared pools */
    static WorkloadForm read(YamlSection section, Set<PoolId> known) {
        Optional<YamlSection> topology = section.section("topology");
        Optional<String> required = topology.flatMap(levels -> levels.text("required"));
        Optional<String> preferred = topology.flatMap(levels -> levels.text("preferred"));
        Optional<WorkerSlice> workerSlice =
                topology.flatMap(levels -> levels.section("slice")).map(WorkloadForm::slice);
        topology.ifPresent(YamlSection::close);
        List<PoolId> wanted = new ArrayList<>();
        for (String pool : section.texts("pools")) {
            if (!known.contains(new PoolId(pool))) {
                throw section.error("there is no pool '" + pool + "'");
            }
            wanted.add(new PoolId(pool));
        }
        return new WorkloadForm(
                gpus(section),
                section.count("min-gpus"),
                section.count("devices"),
                section.count("workers"),
                section.count("min-workers"),
                section.milli("cpu"),
                section.memory("memory"),
                section.labels("labels"),
                required,
                preferred,
                workerSlice,
                sets(section, known),
                section.flag("move-back"),
                wanted);
    }

    private static List<WorkloadForm> sets(YamlSection section, Set<PoolId> known) {
        List<WorkloadForm> sets = new ArrayList<>();
        Set<String> names = new TreeSet<>();
        for (YamlSection stated : section.sections("worker-sets")) {
            try (YamlSection set = stated) {
                String name = set.text("name").orElseThrow(() -> set.error("a worker set must have a 'name'"));
                if (!names.add(name)) {
                    throw set.error("there are two worker sets '" + name + "'");
                }
                sets.add(read(set, known));
            }
        }
        return sets;
    }

    private static WorkerSlice slice(YamlSection given) {
        try (YamlSection section = given) {
            OptionalInt workers = section.count("workers");
            Optional<String> level = section.text("required");
            if (workers.isEmpty() || level.isEmpty()) {
                throw section.error("a slice must have its 'workers' and a 'required' level");
            }
            return section.create(() -> new WorkerSlice(workers.getAsInt(), level.get()));
        }
    }

    private static Optional<Gpus> gpus(YamlSection section) {
        List<Gpus> stated = new ArrayList<>();
        section.milli("gpus").ifPresent(gpuMilli -> stated.add(new Gpus.Amount(gpuMilli)));
        section.memory("gpu-memory").ifPresent(memoryMiB -> stated.add(new Gpus.Memory(memoryMiB)));
        section.text("mig").ifPresent(profile -> stated.add(new Gpus.Mig(profile)));
        if (stated.size() > 1) {
            throw section.error("only one of 'gpus', 'gpu-memory' and 'mig' is possible");
        }
        return stated.stream().findFirst();
    }

    /** This form, with its absent fields from the profile. */
    WorkloadForm withDefaultsOf(WorkloadForm profile) {
        return new WorkloadForm(
                gpus.or(profile::gpus),
                minGpus.isPresent() || gpus.isPresent() ? minGpus : profile.minGpus,
                devices.isPresent() || gpus.isPresent() ? devices : profile.devices,
                workers.isPresent() ? workers : profile.workers,
                minWorkers.isPresent() || workers.isPresent() ? minWorkers : profile.minWorkers,
                cpuMilli.isPresent() ? cpuMilli : profile.cpuMilli,
                memoryMiB.isPresent() ? memoryMiB : profile.memoryMiB,
                labels.isEmpty() ? profile.labels : labels,
                requiredLevel.or(profile::requiredLevel),
                preferredLevel.or(profile::preferredLevel),
                slice.or(profile::slice),
                sets.isEmpty() ? profile.sets : sets,
                moveBack.or(profile::moveBack),
                pools.isEmpty() ? profile.pools : pools);
    }

    /** @throws IllegalArgumentException if the fields do not make a valid shape */
    Shape shape() {
        return sets.isEmpty() ? plainShape() : shapeOfSets();
    }

    private Shape shapeOfSets() {
        boolean saysItAgain = gpus.isPresent()
                || minGpus.isPresent()
                || workers.isPresent()
                || minWorkers.isPresent()
                || cpuMilli.isPresent()
                || memoryMiB.isPresent()
                || preferredLevel.isPresent()
                || slice.isPresent();
        if (saysItAgain || sets.stream().anyMatch(set -> !set.sets.isEmpty() || !set.pools.isEmpty())) {
            throw new IllegalArgumentException(
                    "beside 'worker-sets' only labels, pools and 'topology: {required: ...}' are possible, and a "
                            + "worker set must have neither pools nor worker sets");
        }
        if (sets.size() == 1) {
            throw new IllegalArgumentException("'worker-sets' must have at least two entries");
        }
        return shapeOfSet(sets.getFirst()).toBuilder()
                .further(
                        sets.subList(1, sets.size()).stream()
                                .map(this::shapeOfSet)
                                .toList(),
                        requiredLevel)
                .shape();
    }

    /** The shape of one worker set; a set without labels gets those of the whole form. */
    private Shape shapeOfSet(WorkloadForm set) {
        Shape shape = set.plainShape();
        return shape.labels().isEmpty() ? shape.toBuilder().labels(labels).shape() : shape;
    }

    private Shape plainShape() {
        int count = workers.orElse(1);
        return Shape.ofWorkers(count, gpuRequest())
                .minWorkers(minWorkers.orElse(count))
                .cpuMilli(cpuMilli.orElse(0))
                .memoryMiB(memoryMiB.orElse(0))
                .labels(labels)
                .requiredLevel(requiredLevel)
                .preferredLevel(preferredLevel)
                .slice(slice)
                .shape();
    }

    private GpuRequest gpuRequest() {
        GpuRequest wanted = gpuRequestWithoutMinimum();
        if (minGpus.isEmpty()) {
            return wanted;
        }
        if (wanted instanceof GpuRequest.Whole whole) {
            return new GpuRequest.Whole(whole.count(), minGpus.getAsInt());
        }
        throw new IllegalArgumentException("'min-gpus' is possible for whole GPUs only");
    }

    private GpuRequest gpuRequestWithoutMinimum() {
        int count = devices.orElse(1);
        if (gpus.isEmpty()) {
            return GpuRequest.whole(0);
        }
        return switch (gpus.get()) {
            case Gpus.Memory memory -> new GpuRequest.Memory(count, memory.memoryMiB());
            case Gpus.Mig mig -> new GpuRequest.Mig(mig.profile());
            case Gpus.Amount amount
            when amount.gpuMilli() % 1000 == 0 ->
                GpuRequest.whole(Math.toIntExact(Math.multiplyExact(count, amount.gpuMilli() / 1000)));
            case Gpus.Amount amount -> new GpuRequest.Fraction(count, Math.toIntExact(amount.gpuMilli()));
        };
    }
}
