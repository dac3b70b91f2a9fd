package io.quartermaster.workloads;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.redis.RedisScript;
import io.quartermaster.platform.redis.RedisScriptRunner;
import io.quartermaster.platform.redis.RedisScriptRunner.RedisUnavailable;
import io.quartermaster.workloads.counters.LiveCounters;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.redis.client.Response;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jboss.logging.Logger;

/**
 * The submission admission: it checks the tenant's state, the queue's cap and the tenant's rate. One call to Redis
 * counts and decides. It holds room under the workloads' ids until the leader's counters include them.
 *
 * <p>While Redis is down, or has no counters of the tenant, PostgreSQL counts instead, in one statement and without a
 * lock: locks would make submissions to one queue wait for each other during an outage. Concurrent submissions then do
 * not see each other. So the cap of a queue, or a tenant's rate, can be exceeded. The excess is at most what the other
 * request connections of all replicas submit at that moment. The scheduler checks limits again: the excess waits, and
 * does not run.
 */
@ApplicationScoped
class SubmissionAdmission {

    /** The delay before a retry with a full queue. It is fixed, because the start of waiting workloads is unknown. */
    private static final Duration QUEUE_FULL_RETRY_DELAY = Duration.ofSeconds(10);

    private static final Logger LOG = Logger.getLogger(SubmissionAdmission.class);
    private static final RedisScript ADMIT = RedisScript.named("admit");
    private static final RedisScript RELEASE = RedisScript.named("release");

    /** Counts no further than necessary. The queues are passed as texts, whose order is that of the result. */
    private static final String COUNT = """
            select c.n from (
                select cast(0 as bigint) as place,
                       (select count(*) from (select 1 from workload where tenant_id = :tenant and id >= :since
                           limit :most) r) as n
                union all
                select a.place,
                       (select count(*) from (select 1 from workload w
                            where w.tenant_id = :tenant and w.queue_id = a.queue and w.state not in ('succeeded',
                                'failed', 'cancelled')
                              and w.state in ('waiting', 'held', 'paused') limit a.cap + 1) q)
                  from unnest(cast(cast(:queues as text) as uuid[]), cast(cast(:caps as text)
                      as int[])) with ordinality as a(queue, cap, place)) c
             order by c.place
            """;

    private final RedisScriptRunner scripts;
    private final int perSecond;
    private final int burst;
    private final Duration holdTime;

    /** The room that a submission needs in one queue. */
    record RoomRequest(UUID queue, String name, int maxWaiting, List<UUID> workloads) {
        RoomRequest {
            workloads = List.copyOf(workloads);
        }

        Room room() {
            return new Room(name, maxWaiting, workloads.size());
        }
    }

    /**
     * The room that moved workloads need in a queue.
     *
     * @param additional how many more workloads would wait in it
     */
    record Room(String queue, int maxWaiting, int additional) {}

    @Inject
    SubmissionAdmission(RedisScriptRunner scripts, WorkloadsConfig config) {
        this(scripts, config.submissionsPerSecond(), config.submissionBurst(), config.holdTime());
    }

    SubmissionAdmission(RedisScriptRunner scripts, int perSecond, int burst, Duration holdTime) {
        if (perSecond < 1 || burst < WorkloadApi.MAX_BATCH) {
            throw new IllegalArgumentException(
                    "quartermaster.workloads.submissions-per-second must be at least 1, submission-burst at least "
                            + WorkloadApi.MAX_BATCH);
        }
        this.scripts = scripts;
        this.perSecond = perSecond;
        this.burst = burst;
        this.holdTime = holdTime;
    }

    /**
     * Whether Redis admits the submission and holds room for it. False means that Redis cannot decide; then
     * {@link #countInDatabase} decides in the transaction. A refusal is a {@link ProblemException} that states the
     * failed check with its numbers.
     */
    Uni<Boolean> tryHold(TenantId tenant, List<RoomRequest> roomRequests) {
        return decide(tenant, roomRequests).map(verdict -> switch (verdict) {
            case Verdict.Admitted admitted -> true;
            case Verdict.Refused refused -> throw refused.problem();
            case Verdict.Unknown unknown -> false;
        });
    }

    sealed interface Verdict {
        record Admitted() implements Verdict {}

        record Refused(ProblemException problem) implements Verdict {}

        /** Redis cannot decide. */
        record Unknown() implements Verdict {}
    }

    Uni<Verdict> decide(TenantId tenant, List<RoomRequest> roomRequests) {
        List<String> keys = new ArrayList<>(List.of(LiveCounters.countersKey(tenant), rateKey(tenant)));
        List<String> arguments = new ArrayList<>(
                List.of(Integer.toString(perSecond), Integer.toString(burst), Long.toString(holdTime.toMillis())));
        for (RoomRequest roomRequest : roomRequests) {
            keys.add(LiveCounters.holdsKey(tenant, roomRequest.queue()));
            arguments.add(roomRequest.queue().toString());
            arguments.add(Integer.toString(roomRequest.maxWaiting()));
            arguments.add(Integer.toString(roomRequest.workloads().size()));
            roomRequest.workloads().forEach(id -> arguments.add(id.toString()));
        }
        return scripts.run(ADMIT, keys, arguments)
                .map(answer -> toVerdict(answer, roomRequests))
                .onFailure(RedisUnavailable.class)
                .recoverWithItem(new Verdict.Unknown());
    }

    /**
     * Releases the holds of admitted submissions that were not stored, so that they do not count for the tenant's rate.
     * A hold that is not released expires.
     */
    Uni<Void> release(TenantId tenant, List<RoomRequest> roomRequests) {
        List<String> keys = new ArrayList<>(List.of(rateKey(tenant)));
        List<String> arguments = new ArrayList<>(List.of(Integer.toString(burst)));
        for (RoomRequest roomRequest : roomRequests) {
            keys.add(LiveCounters.holdsKey(tenant, roomRequest.queue()));
            arguments.add(Integer.toString(roomRequest.workloads().size()));
            roomRequest.workloads().forEach(id -> arguments.add(id.toString()));
        }
        return scripts.run(RELEASE, keys, arguments)
                .onFailure(RedisUnavailable.class)
                .invoke(e -> LOG.debugf("the holds were not released and will expire: %s", e.getMessage()))
                .onFailure(RedisUnavailable.class)
                .recoverWithNull()
                .replaceWithVoid();
    }

    /**
     * Makes the checks of the script in PostgreSQL, without a lock. A dry run uses it too, because it holds nothing.
     */
    Uni<Void> countInDatabase(Mutiny.Session session, TenantId tenant, List<RoomRequest> roomRequests) {
        return session.createNativeQuery(COUNT, Long.class)
                .setParameter("tenant", tenant.value())
                .setParameter("since", firstIdOfWindow())
                .setParameter("most", burst + 1)
                .setParameter("queues", sqlArray(roomRequests, roomRequest -> roomRequest
                        .queue()
                        .toString()))
                .setParameter(
                        "caps",
                        sqlArray(
                                roomRequests,
                                roomRequest ->
                                        Integer.toString(roomRequest.room().maxWaiting())))
                .getResultList()
                .invoke(counts -> requireRoomAndRate(roomRequests, counts))
                .replaceWithVoid();
    }

    /** @param counts the submissions of the window, then the waiting workloads of each queue */
    private void requireRoomAndRate(List<RoomRequest> roomRequests, List<Long> counts) {
        long requested = 0;
        for (int i = 0; i < roomRequests.size(); i++) {
            Room room = roomRequests.get(i).room();
            long waiting = counts.get(i + 1);
            if (waiting + room.additional() > room.maxWaiting()) {
                throw queueFull(room, waiting);
            }
            requested += room.additional();
        }
        long excess = counts.getFirst() + requested - burst;
        if (excess > 0) {
            throw rateExceeded(excess * 1_000L / perSecond);
        }
    }

    /** Checks the room for workloads that move to a queue. Two moves into one queue count one after the other. */
    Uni<Void> requireRoom(Mutiny.Session session, TenantId tenant, UUID queue, Room room) {
        return session.createNativeQuery(
                        "select 1 from pg_advisory_xact_lock(hashtextextended(:name, 0))", Integer.class)
                .setParameter("name", "queue:" + tenant + ":" + queue)
                .getSingleResult()
                .chain(() -> session.createNativeQuery("""
                                select count(*) from (select 1 from workload
                                    where tenant_id = :tenant and queue_id = :queue and state not in ('succeeded',
                                        'failed', 'cancelled')
                                      and state in ('waiting', 'held', 'paused') limit :most) w
                                """, Long.class)
                        .setParameter("tenant", tenant.value())
                        .setParameter("queue", queue)
                        .setParameter("most", room.maxWaiting() + 1)
                        .getSingleResult())
                .map(waiting -> {
                    if (waiting + room.additional() > room.maxWaiting()) {
                        throw queueFull(room, waiting);
                    }
                    return null;
                });
    }

    /**
     * The first id of the rate window, which is the time in which the script's bucket fills. The ids of workloads begin
     * with their creation time.
     */
    private UUID firstIdOfWindow() {
        long windowMillis = burst * 1_000L / perSecond;
        return new UUID((System.currentTimeMillis() - windowMillis) << 16, 0);
    }

    private static String sqlArray(List<RoomRequest> roomRequests, Function<RoomRequest, String> value) {
        return roomRequests.stream().map(value).collect(Collectors.joining(",", "{", "}"));
    }

    private Verdict toVerdict(Response answer, List<RoomRequest> roomRequests) {
        String word = answer.get(0).toString();
        return switch (word) {
            case "ok" -> new Verdict.Admitted();
            case "unknown" -> new Verdict.Unknown();
            case "tenant" -> new Verdict.Refused(tenantSuspended());
            case "queue" ->
                new Verdict.Refused(queueFull(
                        roomRequests.get(answer.get(1).toInteger() - 1).room(),
                        answer.get(2).toLong()));
            case "rate" -> new Verdict.Refused(rateExceeded(answer.get(1).toLong()));
            default -> throw new IllegalStateException("the admission script returned " + word);
        };
    }

    static ProblemException tenantSuspended() {
        return ProblemException.of(
                403, "tenant-suspended", "the tenant is not active, so it accepts no submissions; ask the operator");
    }

    private static ProblemException queueFull(Room room, long waiting) {
        if (room.maxWaiting() == 0) {
            // A retry cannot help.
            return new ProblemException(
                    Problem.of(
                            429,
                            "queue-full",
                            "queue " + room.queue()
                                    + " takes no work: its maxWaiting is 0. Submit to another queue, or ask an "
                                    + "admin of the tenant to raise maxWaiting",
                            List.of()),
                    Optional.empty());
        }
        String detail = "queue " + room.queue() + " is full: " + waiting + " of at most " + room.maxWaiting()
                + (room.maxWaiting() == 1 ? " workload waits" : " workloads wait") + ", and " + room.additional()
                + (room.additional() == 1 ? " more does" : " more do")
                + " not fit. Submit again later, or to another queue";
        return new ProblemException(
                Problem.of(429, "queue-full", detail, List.of()), Optional.of(QUEUE_FULL_RETRY_DELAY));
    }

    private ProblemException rateExceeded(long waitMillis) {
        String detail = "the tenant may submit " + GpuFormat.count(perSecond, "workload") + " per second and " + burst
                + " in a burst; submit again in " + waitMillis + " ms";
        return new ProblemException(
                Problem.of(429, "rate-exceeded", detail, List.of()), Optional.of(Duration.ofMillis(waitMillis)));
    }

    private static String rateKey(TenantId tenant) {
        return "qm:{" + tenant + "}:rate";
    }
}
