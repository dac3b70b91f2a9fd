package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.testing.Management;
import io.quartermaster.testing.WithoutLeader;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** What an operator's dashboards read. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class CellGaugesIT {

    @Inject
    SystemDatabase database;

    @Inject
    CellGauges gauges;

    @Test
    void metricsSayWhatWaitsWhatTheGpusDoAndHowLongAgentsAreSilent() {
        CellRows rows = new CellRows(database, "gauges");
        UUID pool = rows.pool("gauges");
        rows.node(pool, "gauges-1", 3, Duration.ofHours(1));
        UUID closed = rows.node(pool, "gauges-2", 2, Duration.ofHours(1));
        UUID silent = rows.node(pool, "gauges-3", 1, Duration.ofSeconds(-1));
        rows.run("update node set schedulable = false where id = $1", closed);
        rows.run(
                "update node_contact set last_heard = clock_timestamp() - interval '90 seconds' where node_id = $1",
                silent);
        rows.run("update gpu set healthy = false where uuid = 'gauges-1-gpu-2'");
        rows.allotment(pool, 1, 1);
        UUID policy = rows.policy("/all", pool, 1, 1);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        gauges.measure();
        assertThat(lag()).isGreaterThanOrEqualTo(90);

        try (HandLedCell cell = HandLedCell.lead(database)) {
            rows.submit(queue, policy, profile);
            rows.submit(queue, policy, profile);
            UUID held = rows.submit(queue, policy, profile);
            rows.wish(held, "hold");
            cell.settle();
        }
        gauges.measure();

        assertThat(gpus("allocated")).isEqualTo(1);
        assertThat(gpus("nominated")).isZero();
        assertThat(gpus("free")).isEqualTo(1);
        assertThat(gpus("closed")).isEqualTo(2);
        assertThat(gpus("down")).isEqualTo(2);
        assertThat(value("quartermaster_workloads_waiting{code=\"LIMIT\"}")).isGreaterThanOrEqualTo(1);
        assertThat(value("quartermaster_workloads_waiting{code=\"HELD\"}")).isGreaterThanOrEqualTo(1);
        assertThat(value("quartermaster_agents_lost")).isGreaterThanOrEqualTo(1);
        assertThat(value("quartermaster_submissions_total{outcome=\"accepted\"}"))
                .isNotNegative();
    }

    private static double lag() {
        return value("quartermaster_agents_lag_seconds");
    }

    private static double gpus(String state) {
        return value("quartermaster_gpus{pool=\"gauges\",state=\"" + state + "\"}");
    }

    private static double value(String metric) {
        return Management.request()
                .get("/metrics")
                .asString()
                .lines()
                .filter(line -> line.startsWith(metric + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(metric.length() + 1)))
                .findFirst()
                .orElseThrow(() -> new AssertionError(metric + " is not there"));
    }
}
