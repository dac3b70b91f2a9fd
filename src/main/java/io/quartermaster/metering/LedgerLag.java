package io.quartermaster.metering;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.quarkus.runtime.Startup;
import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/**
 * How far the books are behind, as gauges. The closing loop measures them after each of its turns, so scrapes cost nothing. They are
 * there from the start of the service: an alert rule never meets a metric that is missing.
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
                .description("usage events that no closed hour includes yet")
                .register(metrics);
        Gauge.builder("quartermaster.ledger.stuck.tenants", stuckTenants, AtomicLong::get)
                .description("tenants whose next hour failed to close in the last turn; anything but 0 needs a person")
                .register(metrics);
        Gauge.builder("quartermaster.audit.violations", auditViolations, AtomicLong::get)
                .description(
                        "what the last audit of the books found not to hold; 0 when they hold or were never audited")
                .register(metrics);
    }

    /** Never fails: a measure that is missing is no reason not to close. */
    void measure(int stuck) {
        stuckTenants.set(stuck);
        try {
            database.run(config.statementTimeout(), tx -> {
                Row row = tx.run("""
                        select coalesce(max(extract(epoch from clock_timestamp()) * 1000 - coalesce(c.hour_ms, f.at_ms))::bigint, 0) as lag_ms,
                               coalesce(sum(o.events), 0)::bigint as open_events
                          from tenant t
                          cross join lateral (select at_ms from usage_event e where e.tenant_id = t.id order by seq limit 1) f
                          left join lateral (select hour_ms, through_seq from closed_hour h where h.tenant_id = t.id order by hour_ms desc limit 1) c on true
                          cross join lateral (select count(*) as events from usage_event e where e.tenant_id = t.id and e.seq > coalesce(c.through_seq, -1)) o
                        """).iterator().next();
                lagMillis.set(row.getLong("lag_ms"));
                openEvents.set(row.getLong("open_events"));
                auditViolations.set(tx.run("""
                        select coalesce((select jsonb_array_length(found -> 'violations') from books_audit order by at desc limit 1), 0)::bigint as violations
                        """).iterator().next().getLong("violations"));
                return true;
            });
        } catch (RuntimeException e) {
            LOG.warnf("the lag of the ledger could not be measured: %s", e.getMessage());
        }
    }
}
