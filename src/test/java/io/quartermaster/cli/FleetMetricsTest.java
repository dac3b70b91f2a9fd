package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FleetMetricsTest {

    @Test
    void poolsAndLostNodesAreReadFromTheMetrics() {
        FleetMetrics fleet = FleetMetrics.parse("""
                # HELP quartermaster_gpus GPUs of a pool by state
                # TYPE quartermaster_gpus gauge
                quartermaster_gpus{pool="default",state="free"} 7.0
                quartermaster_gpus{state="allocated",pool="default",} 3.0
                quartermaster_gpus{pool="default",state="down"} 0.0
                quartermaster_gpus{pool="big",state="free"} 1.2E3
                quartermaster_gpus{pool="empty",state="free"} 0.0
                quartermaster_gpus_other{pool="x",state="free"} 9.0
                quartermaster_agents_lost 2.0
                quartermaster_agents_lag_seconds NaN
                """);

        assertThat(fleet.gpusByPool())
                .containsExactly(
                        java.util.Map.entry("big", "1200 free"),
                        java.util.Map.entry("default", "3 allocated, 7 free"),
                        java.util.Map.entry("empty", "none"));
        assertThat(fleet.lostNodes()).isEqualTo(2);
    }

    @Test
    void metricsOfAReplicaThatDoesNotLeadSayNothingOfTheFleet() {
        assertThat(FleetMetrics.parse("up 1.0\n").gpusByPool()).isEmpty();
    }
}
