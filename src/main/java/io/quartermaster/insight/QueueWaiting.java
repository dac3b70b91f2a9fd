package io.quartermaster.insight;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.engine.WorkloadId;
import io.quartermaster.engine.simulation.Foretold;
import io.quartermaster.platform.Page;
import io.quartermaster.platform.PageRequest;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.TenantTransactions;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/** What waits in a queue, in the order in which it would be tried. */
@ApplicationScoped
class QueueWaiting {

    /** The numbers are those of the whole queue, whichever page is read. */
    private static final String WAITING = """
            select cast(row_to_json(x) as text) from (
                select row_number() over (order by w.priority desc, w.at_head_since is null, w.seq) as position, w.id, w.name,
                       w.submitted_by as "submittedBy", w.priority, w.submitted_at as "submittedAt", w.reason_code as reason
                  from workload w
                 where w.tenant_id = :tenant and w.state = 'waiting'
                   and w.queue_id = (select q.id from queue q where q.tenant_id = :tenant and q.name = :queue and q.retired_at is null)
                 order by 1 offset :after limit :most) x
            """;

    private static final Pattern POSITION = Pattern.compile("[0-9]{1,9}");

    private final TenantTransactions transactions;
    private final LiveCell cell;
    private final ObjectMapper json;

    QueueWaiting(TenantTransactions transactions, LiveCell cell, ObjectMapper json) {
        this.transactions = transactions;
        this.cell = cell;
        this.json = json;
    }

    Uni<Page<QueueWaitingResource.View>> list(TenantId tenant, String queue, PageRequest page) {
        String scope = "waiting:" + tenant + ":" + queue;
        long after = page.after(scope).map(QueueWaiting::position).orElse(0L);
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
                        .chain(() -> session.createNativeQuery(WAITING, String.class)
                                .setParameter("tenant", tenant.value())
                                .setParameter("queue", queue)
                                .setParameter("after", after)
                                .setParameter("most", size + 1)
                                .getResultList()))
                .map(rows -> rows.stream().map(this::read).toList())
                .chain(waiting -> waiting.isEmpty()
                        ? Uni.createFrom().item(waiting)
                        : starts(waiting).map(known -> withStarts(waiting, known)))
                .map(waiting -> Page.of(waiting, size, scope, view -> String.valueOf(view.position())));
    }

    private static long position(String text) {
        if (!POSITION.matcher(text).matches()) {
            throw ProblemException.invalid(
                    "pageToken", "not a token of this list", "the nextPageToken of the page before");
        }
        return Long.parseLong(text);
    }

    private Uni<Map<UUID, Instant>> starts(List<QueueWaitingResource.View> waiting) {
        return cell.soon(view -> {
                    Map<UUID, Instant> starts = new HashMap<>();
                    for (QueueWaitingResource.View one : waiting) {
                        Optional.ofNullable(view.forecast()
                                        .fates()
                                        .get(new WorkloadId(one.id().toString())))
                                .flatMap(Foretold.Fate::start)
                                .ifPresent(start -> starts.put(one.id(), Instant.ofEpochMilli(start.atMillis())));
                    }
                    return starts;
                })
                .map(known -> known.orElse(Map.of()));
    }

    private static List<QueueWaitingResource.View> withStarts(
            List<QueueWaitingResource.View> waiting, Map<UUID, Instant> starts) {
        List<QueueWaitingResource.View> views = new ArrayList<>();
        waiting.forEach(one -> views.add(one.with(starts.get(one.id()))));
        return views;
    }

    private QueueWaitingResource.View read(String row) {
        try {
            return json.readValue(row, QueueWaitingResource.View.class);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("a waiting workload cannot be read", e);
        }
    }
}
