package io.quartermaster.dispatch.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.DocumentedMetrics;
import io.quartermaster.dispatch.CellRows;
import io.quartermaster.dispatch.HandLedCell;
import io.quartermaster.dispatch.OneGroup;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.testing.Management;
import io.quartermaster.testing.WithoutLeader;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The metrics for an operator's dashboards. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class CellGaugesIT {

    private static final Pattern SAMPLE = Pattern.compile("(quartermaster_[a-z_]+)(?:\\{(.*)})? .*");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)=\"");

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

    @Test
    void theQuarantineAndStopsThatAreOverdueAreCounted() {
        CellRows rows = new CellRows(database, "gauges-aside");
        rows.run(
                "insert into inbox (tenant_id, kind, ref, set_aside_at, set_aside_why) values ($1, 'policy', "
                        + "'odd', clock_timestamp() - interval '90 seconds', 'a test')",
                rows.tenant);
        OneGroup group = OneGroup.of(rows, 2, 1);
        try (HandLedCell cell = HandLedCell.lead(database)) {
            UUID stuck = group.submit();
            cell.settle();
            rows.wish(stuck, "cancel");
            cell.settle();
            rows.run(
                    "update attempt set deadline_at = clock_timestamp() - interval '1 day' where workload_id = $1",
                    stuck);
        }

        gauges.measure();

        assertThat(value("quartermaster_quarantine_entries{kind=\"inbox-row\"}"))
                .isGreaterThanOrEqualTo(1);
        assertThat(value("quartermaster_quarantine_entries{kind=\"tenant\"}")).isNotNegative();
        assertThat(value("quartermaster_quarantine_oldest_seconds{kind=\"inbox-row\"}"))
                .isGreaterThanOrEqualTo(90);
        assertThat(value("quartermaster_attempts_stop_overdue")).isGreaterThanOrEqualTo(1);
        rows.run("delete from inbox where set_aside_at is not null");
    }

    /**
     * Alert rules, dashboard and runbooks use metrics from the list: see {@link io.quartermaster.MonitoringDocTest}.
     */
    @Test
    void everyMetricThatIsServedIsInTheListWithItsLabels() {
        gauges.measure();
        Map<String, Set<String>> listed = DocumentedMetrics.labels();
        Set<String> served = new TreeSet<>();

        Management.request().get("/metrics").asString().lines().forEach(line -> {
            Matcher sample = SAMPLE.matcher(line);
            if (sample.matches()) {
                String name = sample.group(1);
                String metric = listed.containsKey(name) ? name : name.replaceFirst("_(count|sum|max)$", "");
                assertThat(listed).as(line).containsKey(metric);
                assertThat(LABEL.matcher(sample.group(2) == null ? "" : sample.group(2))
                                .results()
                                .map(label -> label.group(1)))
                        .as(line)
                        .isSubsetOf(listed.getOrDefault(metric, Set.of()));
                served.add(metric);
            }
        });

        assertThat(served)
                .hasSizeGreaterThan(15)
                .contains("quartermaster_cell_led", "quartermaster_dispatch_rebuilds_total");
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
