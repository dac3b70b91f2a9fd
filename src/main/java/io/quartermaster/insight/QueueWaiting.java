package io.quartermaster.insight;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.simulation.Forecast;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The waiting workloads of a queue, in the order in which the scheduler tries them. */
@ApplicationScoped
class QueueWaiting {

    /**
     * The positions count over the whole queue as it is now, whichever page is read. A page begins after a place in the
     * order, so it does not matter which workloads have left the queue.
     */
    private static final String WAITING = """
            with numbered as (
                select row_number() over (order by w.priority desc, w.at_head_since is null, w.place nulls last,
                    w.seq) as position, w.id, w.name, w.submitted_by,
                       w.priority, w.submitted_at, w.reason_code, -cast(w.priority as bigint) as by_priority,
                       cast(case when w.at_head_since is null then 1 else 0 end as bigint) as by_head,
                       coalesce(w.place, 2147483648) as by_place, w.place is not null as placed, w.seq
                  from workload w
                 where w.tenant_id = :tenant and w.state in ('waiting', 'paused') and w.wish = 'run'
                   and w.queue_id = (select q.id from queue q where q.tenant_id = :tenant and q.name = :queue
                       and q.retired_at is null))
            select cast(json_build_object('position', position, 'id', id, 'name', name, 'submittedBy', submitted_by,
                'priority', priority,
                       'submittedAt', submitted_at, 'placed', placed, 'reason', reason_code) as text), by_priority,
                           by_head, by_place, seq
              from numbered where (by_priority, by_head, by_place, seq) > (:priority, :head, :place, :seq)
             order by by_priority, by_head, by_place, seq limit :most
            """;

    private final TenantTransactions transactions;
    private final CellQueryExecutor cell;
    private final ObjectMapper json;

    QueueWaiting(TenantTransactions transactions, CellQueryExecutor cell, ObjectMapper json) {
        this.transactions = transactions;
        this.cell = cell;
        this.json = json;
    }

    Uni<Page<QueueWaitingResource.View>> list(TenantId tenant, String queue, PageRequest page) {
        String scope = "waiting:" + tenant + ":" + queue;
        OrderPlace after = page.after(scope).map(OrderPlace::read).orElse(OrderPlace.BEFORE_ALL);
        int size = page.size();
        return transactions
                .in(tenant, session -> session.createNativeQuery(
                                "select 1 from queue where tenant_id = :tenant and name = :queue and retired_at is null",
                                Integer.class)
                        .setParameter("tenant", tenant.value())
                        .setParameter("queue", queue)
                        .getSingleResultOrNull()
                        .onItem()
                        .ifNull()
                        .failWith(ProblemException::notFound)
                        .chain(() -> session.createNativeQuery(WAITING, Object[].class)
                                .setParameter("tenant", tenant.value())
                                .setParameter("queue", queue)
                                .setParameter("priority", after.byPriority())
                                .setParameter("head", after.byHead())
                                .setParameter("place", after.byPlace())
                                .setParameter("seq", after.seq())
                                .setParameter("most", size + 1)
                                .getResultList()))
                .map(rows -> Page.of(rows.stream().map(this::parseRow).toList(), size, scope, one -> one.place()
                        .toString()))
                .chain(found -> found.items().isEmpty()
                        ? Uni.createFrom().item(new Page<>(List.of(), null))
                        : forecastStarts(found.items()).map(known -> withStarts(found, known)));
    }

    /** A waiting workload with its place in the order. */
    private record WaitingEntry(QueueWaitingResource.View view, OrderPlace place) {}

    /**
     * A place in the order of a queue: by higher priority, then preempted workloads, then workloads with a place from
     * an admin, then by submission.
     */
    private record OrderPlace(long byPriority, long byHead, long byPlace, long seq) {

        static final OrderPlace BEFORE_ALL = new OrderPlace(Integer.MIN_VALUE, -1, -1, -1);

        private static final Pattern FORM = Pattern.compile("(-?[0-9]{1,9}) ([01]) ([0-9]{1,10}) ([0-9]{1,18})");

        static OrderPlace read(String text) {
            Matcher matcher = FORM.matcher(text);
            if (!matcher.matches()) {
                throw ProblemException.invalid(
                        "pageToken", "is not a token of this list", "the nextPageToken of the previous page");
            }
            return new OrderPlace(
                    Long.parseLong(matcher.group(1)),
                    Long.parseLong(matcher.group(2)),
                    Long.parseLong(matcher.group(3)),
                    Long.parseLong(matcher.group(4)));
        }

        @Override
        public String toString() {
            return byPriority + " " + byHead + " " + byPlace + " " + seq;
        }
    }

    private Uni<Map<UUID, Instant>> forecastStarts(List<WaitingEntry> waiting) {
        return cell.queryWithTimeout(view -> {
                    Map<UUID, Instant> starts = new HashMap<>();
                    for (WaitingEntry one : waiting) {
                        UUID id = one.view().id();
                        Optional.ofNullable(view.forecast().perWorkload().get(new WorkloadId(id.toString())))
                                .flatMap(Forecast.WorkloadForecast::start)
                                .ifPresent(start -> starts.put(id, Instant.ofEpochMilli(start.atMillis())));
                    }
                    return starts;
                })
                .map(known -> known.orElse(Map.of()));
    }

    private static Page<QueueWaitingResource.View> withStarts(Page<WaitingEntry> found, Map<UUID, Instant> starts) {
        List<QueueWaitingResource.View> views = new ArrayList<>();
        found.items()
                .forEach(one -> views.add(one.view().with(starts.get(one.view().id()))));
        return new Page<>(views, found.nextPageToken());
    }

    private WaitingEntry parseRow(Object[] row) {
        try {
            return new WaitingEntry(
                    json.readValue((String) row[0], QueueWaitingResource.View.class),
                    new OrderPlace(number(row[1]), number(row[2]), number(row[3]), number(row[4])));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not read a waiting workload", e);
        }
    }

    private static long number(Object value) {
        return ((Number) value).longValue();
    }
}
