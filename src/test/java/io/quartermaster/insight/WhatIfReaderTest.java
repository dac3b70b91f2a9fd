package io.quartermaster.insight;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.quartermaster.governance.profiles.ProfileApi;
import io.quartermaster.insight.SimulationApi.Hypothetical;
import io.quartermaster.insight.SimulationApi.PolicyChange;
import io.quartermaster.insight.SimulationApi.QuotaChange;
import io.quartermaster.insight.SimulationApi.Request;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The form of simulation requests. */
class WhatIfReaderTest {

    private static final TenantId ACME = new TenantId("acme");

    /** The defaults. */
    private static final InsightConfig CONFIG = new InsightConfig() {
        @Override
        public int simulations() {
            return 4;
        }

        @Override
        public int simulationsPerTenant() {
            return 1;
        }

        @Override
        public Duration timeLimit() {
            return Duration.ofSeconds(5);
        }

        @Override
        public Duration forecastTimeLimit() {
            return Duration.ofSeconds(1);
        }

        @Override
        public Duration remedyTimeLimit() {
            return Duration.ofMillis(500);
        }

        @Override
        public Duration horizon() {
            return Duration.ofHours(24);
        }

        @Override
        public Duration longestHorizon() {
            return Duration.ofDays(30);
        }

        @Override
        public int plansLimit() {
            return 20_000;
        }

        @Override
        public long workloadsLimit() {
            return 250_000;
        }

        @Override
        public Duration statementTimeout() {
            return Duration.ofSeconds(10);
        }

        @Override
        public Duration patience() {
            return Duration.ofSeconds(2);
        }
    };

    private static Hypothetical inQueue(@Nullable String queue, @Nullable Integer count) {
        return new Hypothetical(null, queue, null, null, null, null, count, null, null, null, null, null);
    }

    private static Hypothetical underPolicy(@Nullable String policy, ProfileApi.@Nullable Request shape) {
        return new Hypothetical(null, null, policy, shape, null, null, null, null, null, null, null, null);
    }

    private static ProfileApi.Request shape(String gpus, int workers, int minWorkers) {
        return shape(null, gpus, workers, minWorkers, null);
    }

    private static ProfileApi.Request shape(
            @Nullable String name, String gpus, int workers, int minWorkers, @Nullable Duration maxRuntime) {
        return new ProfileApi.Request(
                name,
                GpuAmount.parse(gpus),
                null,
                null,
                null,
                null,
                null,
                workers,
                minWorkers,
                null,
                null,
                Map.of(),
                null,
                List.of("h100"),
                null,
                maxRuntime);
    }

    private static List<String> refused(Request request) {
        List<String> fields = new ArrayList<>();
        assertThatExceptionOfType(ProblemException.class)
                .isThrownBy(() -> WhatIfReader.read(CONFIG, ACME, request))
                .satisfies(e -> {
                    assertThat(e.problem().status()).isEqualTo(400);
                    assertThat(e.problem().errors())
                            .extracting(Problem.Field::accepted)
                            .doesNotContainNull();
                    e.problem().errors().forEach(error -> fields.add(error.field()));
                });
        return fields;
    }

    @Test
    void workOfAQueueOrOfAShapeIsAccepted() {
        WhatIfQuestion whatIfQuestion = WhatIfReader.read(
                CONFIG, ACME, new Request(List.of(inQueue("rnd-one", 1_000)), List.of(), Duration.ofHours(1)));
        assertThat(whatIfQuestion.horizon()).isEqualTo(Duration.ofHours(1));
        assertThat(whatIfQuestion.tenants()).singleElement().satisfies(one -> assertThat(one.queues())
                .containsExactly("rnd-one"));
        assertThat(WhatIfReader.read(
                                CONFIG, ACME, new Request(List.of(underPolicy("rnd", shape("0.5", 4, 2))), null, null))
                        .horizon())
                .isEqualTo(CONFIG.horizon());
    }

    @Test
    void allThatIsWrongIsNamedAtOnce() {
        assertThat(refused(new Request(
                        List.of(
                                inQueue("No Queue", 0),
                                underPolicy("rnd", null),
                                underPolicy(null, shape("1.5", 1, 2)),
                                inQueue(null, 1)),
                        List.of(new PolicyChange(
                                "rnd",
                                List.of(
                                        new QuotaChange(
                                                "h100",
                                                GpuAmount.parse("4"),
                                                GpuAmount.parse("2"),
                                                null,
                                                null,
                                                null,
                                                null,
                                                null,
                                                null),
                                        new QuotaChange("h100", null, null, -1, null, null, null, null, null)),
                                null,
                                null,
                                0)),
                        Duration.ofDays(31))))
                .containsExactlyInAnyOrder(
                        "workloads[0].count",
                        "workloads[0].queue",
                        "workloads[1].shape",
                        "workloads[2].policy",
                        "workloads[2].shape.gpus",
                        "workloads[2].shape.minWorkers",
                        "workloads[3].queue",
                        "policies[0].maxRunning",
                        "policies[0].quotas[0].limit",
                        "policies[0].quotas[1].pool",
                        "policies[0].quotas[1].weight",
                        "horizon");
    }

    @Test
    void aShapeIsRefusedForWhatAProfileIsRefusedFor() {
        assertThat(refused(new Request(
                        List.of(
                                underPolicy("rnd", shape("0", 1, 1)),
                                underPolicy("rnd", shape("1000", 10_000, 1)),
                                underPolicy("rnd", shape("any", "1", 1, 1, Duration.ZERO))),
                        null,
                        null)))
                .containsExactlyInAnyOrder(
                        "workloads[0].shape.cpuMilli",
                        "workloads[1].shape.workers",
                        "workloads[2].shape.name",
                        "workloads[2].shape.maxRuntime");
    }

    @Test
    void aThousandWorkloadsInAllAreTheMost() {
        assertThat(refused(new Request(List.of(inQueue("a", 600), inQueue("b", 600)), null, null)))
                .containsExactly("workloads");
    }

    @Test
    void aQuestionAsksSomething() {
        assertThat(refused(new Request(List.of(), null, null))).containsExactly("body");
    }

    @Test
    void aTenantIsNamedOnce() {
        SimulationApi.TenantChange acme = new SimulationApi.TenantChange("acme", List.of(inQueue("a", 1)), null, null);
        assertThatExceptionOfType(ProblemException.class)
                .isThrownBy(
                        () -> WhatIfReader.read(CONFIG, new SimulationApi.CellRequest(List.of(acme, acme), null, null)))
                .satisfies(e -> assertThat(e.problem().errors())
                        .extracting(Problem.Field::field)
                        .containsExactly("tenants[1].tenant"));
    }
}
