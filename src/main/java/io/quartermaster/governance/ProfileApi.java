package io.quartermaster.governance;

import io.quartermaster.platform.GpuAmount;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Profiles as the API speaks of them. */
public final class ProfileApi {

    private ProfileApi() {}

    @Schema(
            name = "ProfileTopology",
            description = "Where its workers are to be together, by levels of its pools' topology.")
    public record Topology(
            @Schema(description = "all inside one domain of this level, or it does not start", examples = "rack")
            @Nullable
            String required,

            @Schema(description = "inside one domain of this level where that is possible") @Nullable
            String preferred) {

        static Topology of(Profile.Topology topology) {
            return new Topology(
                    topology.required().orElse(null), topology.preferred().orElse(null));
        }

        Profile.Topology levels() {
            return new Profile.Topology(Optional.ofNullable(required), Optional.ofNullable(preferred));
        }
    }

    @Schema(name = "ProfileRequest")
    public record Request(
            @Schema(
                    description =
                            "needed to create; in an update the path says it, and the shape of a what-if has none",
                    examples = "3xgpu")
            @Nullable
            String name,

            @Schema(
                    required = true,
                    description = "GPUs of one worker: a whole number, or a part of one",
                    examples = "3")
            @Nullable
            GpuAmount gpus,

            @Schema(description = "how many workers it wants; absent: 1") @Nullable
            Integer workers,

            @Schema(description = "with how many it starts, all at once; absent: all of them") @Nullable
            Integer minWorkers,

            @Schema(description = "thousandths of a core for each worker; absent: 0") @Nullable
            Long cpuMilli,

            @Schema(description = "main memory for each worker; absent: 0") @Nullable
            Long memoryMiB,

            @Schema(description = "only nodes with these labels") @Nullable
            Map<String, String> nodeLabels,

            @Nullable Topology topology,

            @Schema(required = true, description = "names of pools, in order of preference") @Nullable
            List<String> pools,

            @Schema(description = "after which a workload is stopped; absent: never", examples = "PT12H") @Nullable
            Duration maxRuntime) {}

    @Schema(name = "Profile")
    record View(
            UUID id,
            String name,
            GpuAmount gpus,
            int workers,
            int minWorkers,
            long cpuMilli,
            long memoryMiB,
            Map<String, String> nodeLabels,
            Topology topology,
            List<String> pools,
            @Nullable Duration maxRuntime,
            long version,

            @Schema(description = "in answers to writes") @Nullable
            Effects effects) {

        static View of(TenantRules rules, Profile profile, @Nullable Effects effects) {
            return new View(
                    profile.id(),
                    profile.name(),
                    new GpuAmount(profile.gpuMilli()),
                    profile.workers(),
                    profile.minWorkers(),
                    profile.cpuMilli(),
                    profile.memoryMiB(),
                    profile.nodeLabels(),
                    Topology.of(profile.topology()),
                    profile.pools().stream().map(rules::nameOf).toList(),
                    profile.maxRuntimeMillis().isPresent()
                            ? Duration.ofMillis(profile.maxRuntimeMillis().getAsLong())
                            : null,
                    profile.version(),
                    effects);
        }
    }
}
