package io.quartermaster.metering;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jboss.logging.Logger;

/**
 * The lag of the ledger, as gauges. The closing loop of every replica measures them in each round, so scrapes cost
 * nothing. The gauges exist from the start of the service, so that an alert rule always finds the metric.
 */
@Startup
@ApplicationScoped
class LedgerLag {

    private static final Logger LOG = Logger.getLogger(LedgerLag.class);

    private final MeteringConfig config;
    private final SystemDatabase database;
    private final AtomicLong lagMillis = new AtomicLong();
    private final AtomicLong openEvents = new AtomicLong();
    private final AtomicLong stuckTenants = new AtomicLong();
    private final AtomicLong auditViolations = new AtomicLong();

    LedgerLag(MeteringConfig config, SystemDatabase database, MeterRegistry metrics) {
        this.config = config;
        this.database = database;
        Gauge.builder("quartermaster.ledger.lag", lagMillis, millis -> millis.get() / 1000.0)
                .baseUnit("seconds")
                .description("time since the end of the last closed hour, of the tenant furthest behind")
                .register(metrics);
        Gauge.builder("quartermaster.ledger.open.events", openEvents, AtomicLong::get)
                .description("number of usage events that no closed hour includes yet")
                .register(metrics);
        Gauge.builder("quartermaster.ledger.stuck.tenants", stuckTenants, AtomicLong::get)
                .description("number of tenants whose next hour failed to close in the last round; above 0, "
                        + "an operator must act")
                .register(metrics);
        Gauge.builder("quartermaster.audit.violations", auditViolations, AtomicLong::get)
                .description("number of violations that the last audit of the ledger found; 0 before the first audit")
                .register(metrics);
    }

    /** The number of tenants whose next hour failed to close in the last round of this replica. */
    void setStuckTenants(int stuck) {
        stuckTenants.set(stuck);
    }

    /** Never fails, because a failed measurement must not stop the closing of hours. */
    void measure() {
        measureAndLog(
                "the lag of the ledger",
                tx -> lagMillis.set(tx.run("""
                        select coalesce(max(extract(epoch from clock_timestamp()) * 1000 - coalesce(c.hour_ms,
                            f.at_ms))::bigint, 0) as lag_ms
                          from tenant t
                          cross join lateral (select at_ms from usage_event e where e.tenant_id = t.id
                              order by seq limit 1) f
                          left join lateral (select hour_ms from closed_hour h
                              where h.tenant_id = t.id order by hour_ms desc limit 1) c on true
                        """).iterator().next().getLong("lag_ms")));
        measureAndLog(
                "the violations of the last audit",
                tx -> auditViolations.set(tx.run("""
                        select coalesce((select jsonb_array_length(found -> 'violations') from books_audit
                            order by at desc limit 1), 0)::bigint as violations
                        """).iterator().next().getLong("violations")));
        // Last, because it reads the most when closing is far behind.
        measureAndLog(
                "the open usage events",
                tx -> openEvents.set(tx.run("""
                        select coalesce(sum(o.events), 0)::bigint as open_events
                          from tenant t
                          left join lateral (select through_seq from closed_hour h
                              where h.tenant_id = t.id order by hour_ms desc limit 1) c on true
                          cross join lateral (select count(*) as events from usage_event e
                              where e.tenant_id = t.id and e.seq > coalesce(c.through_seq, -1)) o
                        """).iterator().next().getLong("open_events")));
    }

    private void measureAndLog(String what, Consumer<SystemTransaction> measurement) {
        try {
            database.run(config.statementTimeout(), tx -> {
                measurement.accept(tx);
                return true;
            });
        } catch (RuntimeException e) {
            LOG.warnf("cannot measure %s: %s", what, e.getMessage());
        }
    }
}
