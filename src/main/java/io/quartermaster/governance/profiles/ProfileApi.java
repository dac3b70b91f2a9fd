package io.quartermaster.governance.profiles;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.governance.ChangeImpact;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.GpuAmount;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for profiles. */
public final class ProfileApi {

    private static final String MAX_GPUS =
            "the most whole GPUs per worker that a workload may request, from gpus up to this number; "
                    + "absent: always gpus";

    private static final String GPU_LIMIT =
            "the most of each GPU that a workload with a part of a GPU may use while the rest is idle; "
                    + "gpus is guaranteed, counted and metered; absent: no more than gpus";

    private static final String MOVE_BACK =
            "whether the leader moves preemptible work from a later pool to an earlier one, "
                    + "once no waiting workload could start in the free capacity there";

    private static final String GPU_MEMORY =
            "memory of a GPU for one worker; counts as its part of the memory of the assigned GPU, in "
                    + "thousandths, rounded up";

    private static final String MIG =
            "MIG profile of the instance of one worker; counts as its compute slices divided by 7, in thousandths, "
                    + "rounded down";

    private static final String GPU_DEVICES =
            "number of GPUs of one node over which one worker has this part, or this memory; absent: 1";

    private ProfileApi() {}

    @Schema(
            name = "ProfileSlice",
            description = "Divides the workers, by their numbers, into slices of equal size; the workers of a "
                    + "slice run close together.")
    public record SliceOfWorkers(
            @Schema(
                    description = "number of workers of one slice; workers and minWorkers are multiples of it",
                    examples = "4")
            @Nullable
            Integer workers,

            @Schema(description = "each slice runs inside one domain of this level", examples = "rack") @Nullable
            String required) {}

    @Schema(
            name = "ProfileTopology",
            description = "How close together the workers run, by levels of the topology of the pools.")
    public record Topology(
            @Schema(
                    description = "all workers run inside one domain of this level, or the workload does not start",
                    examples = "rack")
            @Nullable
            String required,

            @Schema(description = "the workers run inside one domain of this level where possible") @Nullable
            String preferred,

            @Nullable SliceOfWorkers slice) {

        static Topology of(Profile.Topology topology) {
            return new Topology(
                    topology.required().orElse(null),
                    topology.preferred().orElse(null),
                    topology.slice()
                            .map(workerSlice -> new SliceOfWorkers(workerSlice.workers(), workerSlice.level()))
                            .orElse(null));
        }

        Profile.Topology levels() {
            return slice == null
                    ? Profile.Topology.of(required, preferred, null, null)
                    : Profile.Topology.of(required, preferred, slice.workers(), slice.required());
        }
    }

    @Schema(name = "ProfileRequest")
    public record Request(
            @Schema(
                    description = "required to create; an update takes it from the path, and the shape of a "
                            + "what-if has no name",
                    examples = "3xgpu")
            @Nullable
            String name,

            @Schema(
                    description = "GPUs of one worker: a whole number, or a part of one; this, or gpuMemoryMiB, or mig "
                            + "is given",
                    examples = "3")
            @Nullable
            GpuAmount gpus,

            @Schema(description = MAX_GPUS, examples = "8") @Nullable
            GpuAmount maxGpus,

            @Schema(description = GPU_LIMIT, examples = "0.8") @Nullable
            GpuAmount gpuLimit,

            @Schema(description = GPU_MEMORY) @Nullable Long gpuMemoryMiB,

            @Schema(description = MIG, examples = "1g.10gb") @Nullable
            String mig,

            @Schema(description = GPU_DEVICES) @Nullable Integer gpuDevices,

            @Schema(description = "number of workers; absent: 1") @Nullable
            Integer workers,

            @Schema(description = "with how many it starts, all at once; absent: all of them") @Nullable
            Integer minWorkers,

            @Schema(description = "thousandths of a CPU core for each worker; absent: 0") @Nullable
            Long cpuMilli,

            @Schema(description = "main memory for each worker; absent: 0") @Nullable
            Long memoryMiB,

            @Schema(description = "the workload runs only on nodes with these labels") @Nullable
            Map<String, String> nodeLabels,

            @Nullable Topology topology,

            @Schema(required = true, description = "names of pools, in order of preference") @Nullable
            List<String> pools,

            @Schema(description = MOVE_BACK) @Nullable Boolean moveBack,

            @Schema(
                    description = "run time after which the service stops a workload; absent: never",
                    examples = "PT12H")
            @Nullable
            Duration maxRuntime) {

        /**
         * The request that would state this profile. A field with its default value is absent where the default depends
         * on another field.
         */
        static Request of(TenantRules rules, Profile profile) {
            View view = View.of(rules, profile, null);
            return new Request(
                    view.name(),
                    view.gpus(),
                    view.maxGpus(),
                    view.gpuLimit(),
                    view.gpuMemoryMiB(),
                    view.mig(),
                    view.gpuDevices(),
                    view.workers(),
                    view.minWorkers() == view.workers() ? null : view.minWorkers(),
                    view.cpuMilli(),
                    view.memoryMiB(),
                    view.nodeLabels(),
                    view.topology(),
                    view.pools(),
                    view.moveBack(),
                    view.maxRuntime());
        }
    }

    @Schema(
            name = "ProfilePatch",
            description = "A merge patch (RFC 7396): an absent field stays unchanged, null returns a field to "
                    + "its default, objects are merged, lists are replaced.")
    record Patch(
            @Schema(description = "GPUs of one worker; null where gpuMemoryMiB or mig replaces it", examples = "3")
            @Nullable
            GpuAmount gpus,

            @Nullable GpuAmount maxGpus,
            @Nullable GpuAmount gpuLimit,
            @Nullable Long gpuMemoryMiB,

            @Schema(description = MIG, examples = "1g.10gb") @Nullable
            String mig,

            @Nullable Integer gpuDevices,
            @Nullable Integer workers,
            @Nullable Integer minWorkers,
            @Nullable Long cpuMilli,
            @Nullable Long memoryMiB,

            @Schema(description = "null for a label removes it") @Nullable
            Map<String, @Nullable String> nodeLabels,

            @Nullable Topology topology,

            @Schema(description = "names of pools, in order of preference") @Nullable
            List<String> pools,

            @Nullable Boolean moveBack,
            @Schema(examples = "PT12H") @Nullable Duration maxRuntime) {}

    /** The GPU fields of a profile. */
    private record Gpus(
            @Nullable GpuAmount amount,
            @Nullable Long memoryMiB,
            @Nullable String mig,
            int devices) {

        static Gpus of(GpuRequest gpus) {
            return switch (gpus) {
                case GpuRequest.Whole whole -> new Gpus(new GpuAmount(whole.count() * 1_000L), null, null, 1);
                case GpuRequest.Fraction part ->
                    new Gpus(new GpuAmount(part.gpuMilliEach()), null, null, part.devices());
                case GpuRequest.Memory memory -> new Gpus(null, memory.memoryMiBEach(), null, memory.devices());
                case GpuRequest.Mig instance -> new Gpus(null, null, instance.profile(), 1);
            };
        }
    }

    @Schema(name = "Profile")
    public record View(
            UUID id,
            String name,

            @Schema(description = "GPUs of one worker; absent where it asks for memory of GPUs, or for a MIG instance")
            @Nullable
            GpuAmount gpus,

            @Schema(description = MAX_GPUS) @Nullable GpuAmount maxGpus,

            @Schema(description = GPU_LIMIT) @Nullable GpuAmount gpuLimit,

            @Schema(description = GPU_MEMORY) @Nullable Long gpuMemoryMiB,

            @Schema(description = MIG) @Nullable String mig,

            @Schema(description = GPU_DEVICES) @Nullable Integer gpuDevices,

            int workers,
            int minWorkers,
            long cpuMilli,
            long memoryMiB,
            Map<String, String> nodeLabels,
            Topology topology,
            List<String> pools,

            @Schema(description = MOVE_BACK) boolean moveBack,

            @Nullable Duration maxRuntime,
            long version,

            @Schema(description = "in answers to writes") @Nullable
            ChangeImpact effects) {

        public static View of(TenantRules rules, Profile profile, @Nullable ChangeImpact changeImpact) {
            Gpus gpus = Gpus.of(profile.gpus());
            return new View(
                    profile.id(),
                    profile.name(),
                    gpus.amount(),
                    profile.maxGpus().isPresent()
                            ? new GpuAmount(profile.maxGpus().getAsInt() * 1_000L)
                            : null,
                    profile.gpuLimitMilli().isPresent()
                            ? new GpuAmount(profile.gpuLimitMilli().getAsInt())
                            : null,
                    gpus.memoryMiB(),
                    gpus.mig(),
                    gpus.devices() == 1 ? null : gpus.devices(),
                    profile.workers(),
                    profile.minWorkers(),
                    profile.cpuMilli(),
                    profile.memoryMiB(),
                    profile.nodeLabels(),
                    Topology.of(profile.topology()),
                    profile.pools().stream().map(rules::nameOf).toList(),
                    profile.movesBack(),
                    profile.maxRuntimeMillis().isPresent()
                            ? Duration.ofMillis(profile.maxRuntimeMillis().getAsLong())
                            : null,
                    profile.version(),
                    changeImpact);
        }
    }
}
