package io.quartermaster.governance.profiles;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.WorkerSlice;
import io.quartermaster.governance.ProfileRow;
import io.quartermaster.governance.rules.GpuRange;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.http.JsonSettings;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ProfileReaderTest {

    @Test
    void eachWayToAskForGpusIsReadAndSaidBackTheSame() {
        assertThat(shape("8", null, null, null)).isEqualTo(GpuRequest.whole(8));
        assertThat(shape("0.25", null, null, null)).isEqualTo(new GpuRequest.Fraction(1, 250));
        assertThat(shape("0.5", null, null, 4)).isEqualTo(new GpuRequest.Fraction(4, 500));
        assertThat(shape(null, 20_480L, null, null)).isEqualTo(new GpuRequest.Memory(1, 20_480));
        assertThat(shape(null, 20_480L, null, 2)).isEqualTo(new GpuRequest.Memory(2, 20_480));
        assertThat(shape(null, null, "1g.10gb", null)).isEqualTo(new GpuRequest.Mig("1g.10gb"));
    }

    @Test
    void aWorkerCountsAsItsPartsAndAShareByMemoryIsNotKnownBeforeItIsPlaced() {
        assertThat(profile("0.5", null, null, 4).gpuMilli()).hasValue(2_000);
        assertThat(profile(null, null, "3g.40gb", null).gpuMilli()).hasValue(428);
        assertThat(profile(null, 20_480L, null, 2).gpuMilli()).isEmpty();
        assertThat(profile(null, 20_480L, null, 2).hasGpus()).isTrue();
    }

    @Test
    void aRangeGoesFromAWholeNumberOfGpusToOne() {
        Profile profile = ranging("2", "8");
        assertThat(new ProfileRow("acme", profile).toProfile()).isEqualTo(profile);
        assertThat(profile.startGpuMilli()).isEqualTo(2_000);
        assertThat(profile.gpus(OptionalInt.empty())).isEqualTo(GpuRequest.whole(2));
        assertThat(profile.gpus(OptionalInt.of(5))).isEqualTo(GpuRequest.whole(5));
        assertThat(IntStream.of(1, 2, 8, 9).filter(gpus -> profile.range().allows(OptionalInt.of(gpus))))
                .containsExactly(2, 8);
        assertThat(profile.range().allowsAtLeast(OptionalInt.of(3), OptionalInt.of(5)))
                .isTrue();
        assertThat(profile.range().allowsAtLeast(OptionalInt.of(6), OptionalInt.of(5)))
                .isFalse();
        assertThat(profile.range().allowsAtLeast(OptionalInt.of(1), OptionalInt.of(5)))
                .isFalse();
        assertThat(profile.range().allowsAtLeast(OptionalInt.of(3), OptionalInt.empty()))
                .isFalse();
        assertThat(profile.gpus(OptionalInt.of(5), OptionalInt.of(3))).isEqualTo(new GpuRequest.Whole(5, 3));
        assertThat(profile.range().accepted()).isEqualTo("\"2\" to \"8\", whole numbers");
        for (List<String> wrong :
                List.of(List.of("2", "1"), List.of("2", "2.5"), List.of("0.5", "1"), List.of("0", "1"))) {
            assertThatExceptionOfType(ProblemException.class)
                    .as("%s", wrong)
                    .isThrownBy(() -> ranging(wrong.get(0), wrong.get(1)))
                    .satisfies(e ->
                            assertThat(e.problem().errors().getFirst().field()).isEqualTo("maxGpus"));
        }
    }

    @Test
    void withoutARangeAWorkloadMayNameOnlyWhatItHasAnyway() {
        GpuRange fixed = profile("2", null, null, null).range();
        assertThat(IntStream.of(1, 2, 3).filter(gpus -> fixed.allows(OptionalInt.of(gpus))))
                .containsExactly(2);
        assertThat(fixed.allows(OptionalInt.empty())).isTrue();
        assertThat(profile(null, 20_480L, null, null).range().allows(OptionalInt.of(1)))
                .isFalse();
    }

    @Test
    void partsAndInstancesThatAddUpToAGpuAreNoneToName() {
        assertThat(profile("0.5", null, null, 2).range().allows(OptionalInt.of(1)))
                .isFalse();
        assertThat(profile(null, null, "7g.80gb", null).range().allows(OptionalInt.of(1)))
                .isFalse();
        assertThat(profile(null, null, "7g.80gb", null).range().allows(OptionalInt.empty()))
                .isTrue();
    }

    @Test
    void aPartIsGuaranteedAndMayUseMoreOfItsGpuUpToALimit() {
        Profile profile = read("0.25", null, "0.8", null, null, null);
        assertThat(profile.gpus()).isEqualTo(new GpuRequest.Fraction(1, 250));
        assertThat(profile.gpuLimitMilli()).hasValue(800);
        assertThat(new ProfileRow("acme", profile).toProfile()).isEqualTo(profile);
        assertThat(read("0.5", null, "0.5", null, null, 2).gpuLimitMilli()).hasValue(500);
        for (List<String> wrong :
                List.of(List.of("0.25", "0.2"), List.of("0.25", "1.001"), List.of("1", "1"), List.of("0", "1"))) {
            assertThatExceptionOfType(ProblemException.class)
                    .as("%s", wrong)
                    .isThrownBy(() -> read(wrong.get(0), null, wrong.get(1), null, null, null))
                    .satisfies(e -> assertThat(e.problem().errors())
                            .extracting(Problem.Field::field)
                            .contains("gpuLimit"));
        }
    }

    @Test
    void whatSaysTheSameTwiceOrNothingIsRefusedByName() {
        assertThat(refused(null, null, null, null)).containsExactly("gpus");
        assertThat(refused("1", 20_480L, null, null)).containsExactly("gpuMemoryMiB");
        assertThat(refused("1", null, "1g.10gb", null)).containsExactly("mig");
        assertThat(refused(null, 20_480L, "1g.10gb", null)).containsExactly("mig");
        assertThat(refused(null, 0L, null, null)).containsExactly("gpuMemoryMiB");
        assertThat(refused(null, null, "5g.10gb", null)).containsExactly("mig");
        assertThat(refused(null, null, "1g.99999999999gb", null)).containsExactly("mig");
        assertThat(refused("2", null, null, 2)).containsExactly("gpuDevices");
        assertThat(refused(null, null, "1g.10gb", 2)).containsExactly("gpuDevices");
        assertThat(refused("0.5", null, null, 257)).containsExactly("gpuDevices");
        assertThat(refused("1.5", null, null, null)).containsExactly("gpus");
    }

    @Test
    void aProfileWithoutAPoolIsToldWhichPoolsThereAre() throws Exception {
        assertThat(withoutPools(new TreeMap<>())).isEqualTo("none: no pool is allotted yet");
        TreeMap<String, ProfileReader.GrantedPool> granted = new TreeMap<>();
        granted.put("h100", new ProfileReader.GrantedPool(new PoolId(Ids.next().toString()), List.of()));
        granted.put("cloud", new ProfileReader.GrantedPool(new PoolId(Ids.next().toString()), List.of()));
        assertThat(withoutPools(granted)).isEqualTo("cloud, h100");
    }

    @Test
    void labelsThatAnOlderVersionAcceptedStandInTheWayOfNoOtherChange() throws Exception {
        Map<String, String> old = Map.of("gpu type", "h100");
        assertThat(labelled("{\"gpu type\": \"h100\"}", old)).isEmpty();
        assertThat(labelled("{\"gpu type\": \"h100\"}", Map.of())).containsExactly("nodeLabels");
        assertThat(labelled("{\"gpu type\": \"h200\"}", old)).containsExactly("nodeLabels");
        assertThat(labelled("{\"gpu type\": \"h100\", \"zone\": \"a\"}", old)).containsExactly("nodeLabels");
        assertThat(labelled("{\"zone\": \"a\"}", old)).isEmpty();
        assertThat(labelled("null", old)).isEmpty();
    }

    private static List<String> labelled(String labels, Map<String, String> kept) throws Exception {
        var problems = new ProblemException.Invalid();
        new ProfileReader(problems, "", kept)
                .check(JsonSettings.newMapper()
                        .readValue("{\"gpus\": \"1\", \"nodeLabels\": " + labels + "}", ProfileApi.Request.class));
        try {
            problems.throwIfAny();
            return List.of();
        } catch (ProblemException e) {
            return e.problem().errors().stream().map(Problem.Field::field).toList();
        }
    }

    private static @Nullable String withoutPools(TreeMap<String, ProfileReader.GrantedPool> granted) throws Exception {
        ProfileApi.Request request = JsonSettings.newMapper().readValue("{\"gpus\": \"1\"}", ProfileApi.Request.class);
        ProfileReader reader = new ProfileReader(new ProblemException.Invalid(), "");
        ProblemException refused = catchThrowableOfType(
                ProblemException.class, () -> reader.read(request, Ids.next(), "without", 0, granted));
        Problem.Field error = refused.problem().errors().getFirst();
        assertThat(error.field()).isEqualTo("pools");
        return error.accepted();
    }

    @Test
    void workersAreMadeOfWholeSlices() {
        Profile sliced = sliced(8, 4, 2, "rack");
        assertThat(sliced.topology().slice()).contains(new WorkerSlice(2, "rack"));
        assertThat(new ProfileRow("acme", sliced).toProfile()).isEqualTo(sliced);
        for (int each : List.of(0, -1, 3, 8)) {
            assertThatExceptionOfType(ProblemException.class)
                    .as("%s", each)
                    .isThrownBy(() -> sliced(8, 4, each, "rack"))
                    .satisfies(e ->
                            assertThat(e.problem().errors().getFirst().field()).isEqualTo("topology.slice.workers"));
        }
        assertThatExceptionOfType(ProblemException.class)
                .isThrownBy(() -> sliced(8, 4, 2, null))
                .satisfies(
                        e -> assertThat(e.problem().errors().getFirst().field()).isEqualTo("topology.slice.required"));
    }

    private static Profile sliced(int workers, int minWorkers, int each, @Nullable String level) {
        ProfileApi.Topology topology = new ProfileApi.Topology(null, null, new ProfileApi.SliceOfWorkers(each, level));
        return read("1", null, null, null, null, null, workers, minWorkers, topology);
    }

    private static GpuRequest shape(
            @Nullable String gpus, @Nullable Long memoryMiB, @Nullable String mig, @Nullable Integer devices) {
        Profile profile = profile(gpus, memoryMiB, mig, devices);
        assertThat(new ProfileRow("acme", profile).toProfile()).isEqualTo(profile);
        return profile.gpus();
    }

    private static List<String> refused(
            @Nullable String gpus, @Nullable Long memoryMiB, @Nullable String mig, @Nullable Integer devices) {
        List<String> fields = new ArrayList<>();
        assertThatExceptionOfType(ProblemException.class)
                .isThrownBy(() -> profile(gpus, memoryMiB, mig, devices))
                .satisfies(e ->
                        e.problem().errors().stream().map(Problem.Field::field).forEach(fields::add));
        return fields;
    }

    private static Profile ranging(String gpus, String maxGpus) {
        return read(gpus, maxGpus, null, null, null, null);
    }

    private static Profile profile(
            @Nullable String gpus, @Nullable Long memoryMiB, @Nullable String mig, @Nullable Integer devices) {
        return read(gpus, null, null, memoryMiB, mig, devices);
    }

    private static Profile read(
            @Nullable String gpus,
            @Nullable String maxGpus,
            @Nullable String gpuLimit,
            @Nullable Long memoryMiB,
            @Nullable String mig,
            @Nullable Integer devices) {
        return read(gpus, maxGpus, gpuLimit, memoryMiB, mig, devices, 1, null, null);
    }

    private static Profile read(
            @Nullable String gpus,
            @Nullable String maxGpus,
            @Nullable String gpuLimit,
            @Nullable Long memoryMiB,
            @Nullable String mig,
            @Nullable Integer devices,
            int workers,
            @Nullable Integer minWorkers,
            ProfileApi.@Nullable Topology topology) {
        TreeMap<String, ProfileReader.GrantedPool> granted = new TreeMap<>();
        granted.put("h100", new ProfileReader.GrantedPool(new PoolId(Ids.next().toString()), List.of("rack")));
        ProfileApi.Request request = new ProfileApi.Request(
                "shape",
                gpus == null ? null : GpuAmount.parse(gpus),
                maxGpus == null ? null : GpuAmount.parse(maxGpus),
                gpuLimit == null ? null : GpuAmount.parse(gpuLimit),
                memoryMiB,
                mig,
                devices,
                workers,
                minWorkers,
                null,
                null,
                null,
                topology,
                List.of("h100"),
                true,
                null);
        return new ProfileReader(new ProblemException.Invalid(), "").read(request, Ids.next(), "shape", 0, granted);
    }
}
