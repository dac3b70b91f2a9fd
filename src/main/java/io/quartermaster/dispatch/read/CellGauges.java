package io.quartermaster.dispatch.read;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.quarkus.runtime.ShutdownEvent;
import io.quarkus.runtime.StartupEvent;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Gauges of waiting workloads, of the states of GPUs and of the silence of agents. Every replica reads them from the
 * tables, whether it leads or not, so they are available even while no replica leads; all replicas show equal values. A
 * thread of its own measures, so scrapes cost nothing.
 */
@ApplicationScoped
public class CellGauges {

    private static final Logger LOG = Logger.getLogger(CellGauges.class);
    private static final List<String> GPU_STATES = List.of("allocated", "nominated", "free", "closed", "down");

    private static final String WAITING = """
            select case when state = 'held' then 'HELD' else coalesce(reason_code, 'NEW') end as code, count(*)
                as workloads
              from workload where state in ('waiting', 'held', 'paused') group by 1 order by 1
            """;

    /**
     * A device counts in one state, or its parts in several. The devices of attempts on a node that is down stay
     * allocated until the node is given up.
     */
    private static final String GPUS = """
            with held as (
                select node_id, device_index, least(1000, sum(gpu_milli)) as milli from allocation_device
                 where freed_at is null and device_index is not null group by 1, 2),
            kept as (
                select (x ->> 'node_id')::uuid as node_id, (x ->> 'device_index')::int as device_index,
                    sum((x ->> 'gpu_milli')::bigint) as milli
                  from nomination n cross join lateral jsonb_array_elements(n.body -> 'devices') x
                      where x ? 'device_index' group by 1, 2),
            device as (
                select p.name as pool, coalesce(h.milli, 0) as allocated, 1000 - coalesce(h.milli, 0) as spare,
                       least(1000 - coalesce(h.milli, 0), coalesce(k.milli, 0)) as kept,
                       case when not coalesce(g.healthy and c.lost_at is null and c.lease_until > clock_timestamp(),
                           false) then 'down'
                            when not n.schedulable then 'closed' else 'open' end as state
                  from gpu g
                  join node n on n.id = g.node_id and n.retired_at is null
                  join pool p on p.id = n.pool_id and p.retired_at is null
                  left join node_contact c on c.node_id = n.id
                  left join held h on h.node_id = g.node_id and h.device_index = g.device_index
                  left join kept k on k.node_id = g.node_id and k.device_index = g.device_index)
            select pool, sum(allocated)::bigint as allocated,
                   coalesce(sum(kept) filter (where state = 'open'), 0)::bigint as nominated,
                   coalesce(sum(spare - kept) filter (where state = 'open'), 0)::bigint as free,
                   coalesce(sum(spare) filter (where state = 'closed'), 0)::bigint as closed,
                   coalesce(sum(spare) filter (where state = 'down'), 0)::bigint as down
              from device group by pool
            union all
            select p.name, u.milli, 0, greatest(0, p.capacity_milli - u.milli), 0, 0
              from pool p
              cross join lateral (select coalesce(sum(a.gpu_milli), 0)::bigint as milli from attempt a
                                   where a.pool_id = p.id and a.state <> 'ended') u
             where p.capacity_milli is not null and p.retired_at is null
             order by 1
            """;

    private static final String AGENTS = """
            select coalesce(max(extract(epoch from clock_timestamp() - c.last_heard) * 1000) filter (where c.lost_at is null), 0)::bigint as lag_ms,
                   count(*) filter (where c.lost_at is not null) as lost
              from node_contact c join node n on n.id = c.node_id and n.retired_at is null
            """;

    private static final String QUARANTINED = """
            select kind, count(set_aside_at) as entries, coalesce(max(extract(epoch
                from clock_timestamp() - set_aside_at) * 1000), 0)::bigint as oldest_ms
              from (select 'inbox-row' as kind, set_aside_at from inbox where set_aside_at is not null
                    union all select 'workload', set_aside_at from workload where set_aside_at is not null
                    union all select 'tenant', set_aside_at from tenant where set_aside_at is not null
                    union all select unnest(array['inbox-row', 'workload', 'tenant']), null) entry
             group by kind order by kind
            """;

    /**
     * Attempts whose deadline and lease are over and whose nodes are in contact: their end should have been applied.
     */
    private static final String OVERDUE = """
            select count(*) as attempts from (
                select a.id from attempt a
                  join allocation_device d on d.tenant_id = a.tenant_id and d.attempt_id = a.id and d.freed_at is null
                  left join node_contact c on c.node_id = d.node_id
                 where a.state = 'stopping'
                 group by a.id, a.deadline_at
                having bool_and(d.node_id is null or coalesce(c.lost_at is null
                    and c.lease_until > clock_timestamp(), false))
                   and a.deadline_at + coalesce(max(c.lease_until - c.last_heard),
                       interval '0') + interval '60 seconds' < clock_timestamp()) overdue
            """;

    private static final String LEADERSHIP = """
            select (lease_until > clock_timestamp()) as led, greatest(0, extract(epoch
                from stamp - clock_timestamp()) * 1000)::bigint as ahead_ms
              from cell where id = $1
            """;

    private final DispatchConfig config;
    private final SystemDatabase database;
    private final MultiGauge waiting;
    private final MultiGauge quarantined;
    private final MultiGauge quarantinedAge;
    private final AtomicLong overdueStops = new AtomicLong();
    private final AtomicLong leads = new AtomicLong();
    private final AtomicLong stampAheadMillis = new AtomicLong();
    private final MultiGauge gpus;
    private final AtomicLong agentLagMillis = new AtomicLong();
    private final AtomicLong lostNodes = new AtomicLong();
    private final CountDownLatch stop = new CountDownLatch(1);
    private @Nullable Thread thread;

    CellGauges(DispatchConfig config, SystemDatabase database, MeterRegistry metrics) {
        this.config = config;
        this.database = database;
        this.waiting = MultiGauge.builder("quartermaster.workloads.waiting")
                .description("waiting workloads, by the code of their reason; HELD: not released yet, NEW: not in any "
                        + "plan yet")
                .register(metrics);
        this.gpus = MultiGauge.builder("quartermaster.gpus")
                .description("GPUs of a pool by state: allocated, nominated (kept for a workload that starts when all "
                        + "its GPUs are free), free,"
                        + " closed (the node takes no new workloads), down")
                .register(metrics);
        this.quarantined = MultiGauge.builder("quartermaster.quarantine.entries")
                .description("inbox rows, workloads and tenants in the scheduler's quarantine, by kind")
                .register(metrics);
        this.quarantinedAge = MultiGauge.builder("quartermaster.quarantine.oldest")
                .baseUnit("seconds")
                .description("how long the oldest entry has been in the quarantine, by kind; 0 where there is none")
                .register(metrics);
        Gauge.builder("quartermaster.attempts.stop.overdue", overdueStops, AtomicLong::get)
                .description("attempts that hold devices although their stop deadline and their node's lease are over")
                .register(metrics);
        Gauge.builder("quartermaster.cell.led", leads, AtomicLong::get)
                .description("1 while a replica leads the cell, else 0")
                .register(metrics);
        Gauge.builder("quartermaster.cell.stamp.ahead", stampAheadMillis, millis -> millis.get() / 1000.0)
                .baseUnit("seconds")
                .description("how far the cell's stamp is ahead of the database's clock")
                .register(metrics);
        Gauge.builder("quartermaster.agents.lag", agentLagMillis, millis -> millis.get() / 1000.0)
                .baseUnit("seconds")
                .description(
                        "time since the last contact of the agent that is silent longest, of nodes that are not given"
                                + " up")
                .register(metrics);
        Gauge.builder("quartermaster.agents.lost", lostNodes, AtomicLong::get)
                .description("nodes that were given up and are not in contact again")
                .register(metrics);
    }

    void start(@Observes StartupEvent event) {
        thread = Thread.ofPlatform().name("cell-gauges").daemon().start(this::loop);
    }

    void stop(@Observes ShutdownEvent event) throws InterruptedException {
        stop.countDown();
        if (thread != null) {
            thread.join(config.commitTimeout().toMillis());
        }
    }

    private void loop() {
        try {
            while (!stop.await(config.gaugesInterval().toMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    measure();
                } catch (RuntimeException e) {
                    // It is unknown then whether a replica leads, and no replica can plan.
                    leads.set(0);
                    LOG.warnf("could not measure waiting workloads, GPUs and agents: %s", e.getMessage());
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Reads all values again. */
    void measure() {
        database.run(config.commitTimeout(), tx -> {
            waiting.register(waiting(tx), true);
            gpus.register(gpus(tx), true);
            List<Row> entries = new ArrayList<>();
            tx.run(QUARANTINED).forEach(entries::add);
            quarantined.register(byKind(entries, row -> row.getLong("entries")), true);
            quarantinedAge.register(byKind(entries, row -> row.getLong("oldest_ms") / 1000.0), true);
            overdueStops.set(tx.run(OVERDUE).iterator().next().getLong("attempts"));
            for (Row cell : tx.run(LEADERSHIP, config.cell())) {
                leads.set(cell.getBoolean("led") ? 1 : 0);
                stampAheadMillis.set(cell.getLong("ahead_ms"));
            }
            Row agents = tx.run(AGENTS).iterator().next();
            agentLagMillis.set(Math.max(0, agents.getLong("lag_ms")));
            lostNodes.set(agents.getLong("lost"));
            return true;
        });
    }

    private static List<MultiGauge.Row<?>> waiting(SystemTransaction tx) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        for (Row row : tx.run(WAITING)) {
            rows.add(MultiGauge.Row.of(Tags.of("code", row.getString("code")), row.getLong("workloads")));
        }
        return rows;
    }

    private static List<MultiGauge.Row<?>> byKind(List<Row> entries, Function<Row, Number> value) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        entries.forEach(row -> rows.add(MultiGauge.Row.of(Tags.of("kind", row.getString("kind")), value.apply(row))));
        return rows;
    }

    private static List<MultiGauge.Row<?>> gpus(SystemTransaction tx) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        for (Row row : tx.run(GPUS)) {
            for (String state : GPU_STATES) {
                rows.add(MultiGauge.Row.of(
                        Tags.of("pool", row.getString("pool"), "state", state), row.getLong(state) / 1000.0));
            }
        }
        return rows;
    }
}
