package io.quartermaster.workloads;

import io.quartermaster.access.CallerContextSwitch;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.DatabaseFailures;
import io.quartermaster.platform.writes.TenantWrites.KeyedAnswer;
import io.quartermaster.workloads.SubmissionStore.Member;
import io.quartermaster.workloads.SubmissionStore.Outcome;
import io.smallrye.common.vertx.VertxContext;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Commits submissions in groups. While a replica commits submissions of a tenant, further ones of that tenant wait.
 * When the commit ends, those that wait are committed together, in the order of their arrival. No timer delays any: a
 * submission that finds nothing in progress is committed immediately.
 *
 * <p>A tenant has at most one group in progress, so it takes at most one connection for groups. Tenants do not wait for
 * each other.
 *
 * <p>Each member has its own result, key and stored answer. If the database refuses a group, its members are committed
 * one by one, so that one bad member does not fail the others.
 *
 * <p>Safe for use by several threads.
 */
@ApplicationScoped
class SubmissionGroups {

    static final int MAX_MEMBERS = 64;
    /** The most workloads of one group. */
    static final int MAX_WORKLOADS = 256;
    /** A submission with more workloads than this is committed alone and immediately. */
    static final int MAX_WORKLOADS_PER_MEMBER = 32;

    private static final Duration COMMIT_TIMEOUT = Duration.ofSeconds(30);
    /** The pause after a lost connection, in which the pool drops it. Otherwise the next group could get it, too. */
    private static final Duration PAUSE_AFTER_OUTAGE = Duration.ofMillis(50);

    private final SubmissionStore store;
    private final Vertx vertx;
    /** The tenants with a group in progress. */
    private final Map<TenantId, Backlog> backlogs = new ConcurrentHashMap<>();

    SubmissionGroups(SubmissionStore store, Vertx vertx) {
        this.store = store;
        this.vertx = vertx;
    }

    private record PendingMember(Member member, UniEmitter<? super Outcome> emitter) {}

    /** The name of a key: equal keys of different callers are different keys. */
    private record KeyName(String subject, String key) {}

    /** What waits for the end of a tenant's group. Changed only inside {@link Map#compute}. */
    private static final class Backlog {

        private final Context context;
        private final Deque<PendingMember> pending = new ArrayDeque<>();

        Backlog(Context context) {
            this.context = context;
        }

        /**
         * The next group: as many as fit, in the order of their arrival. It ends before a repeated key, because a call
         * must not have the same key twice.
         */
        List<PendingMember> takeBatch() {
            List<PendingMember> group = new ArrayList<>();
            Set<KeyName> keys = new HashSet<>();
            int workloads = 0;
            while (group.size() < MAX_MEMBERS) {
                PendingMember next = pending.peek();
                if (next == null) {
                    break;
                }
                Member member = next.member();
                workloads += member.rows().size();
                Optional<KeyName> key =
                        member.keyed().map(KeyedAnswer::key).map(text -> new KeyName(member.subject(), text));
                if (workloads > MAX_WORKLOADS || key.isPresent() && !keys.add(key.get())) {
                    break;
                }
                group.add(pending.remove());
            }
            return group;
        }
    }

    /**
     * Stores the member, alone or with others, and returns what became of it on the caller's context. The caller must
     * hold no connection.
     *
     * @return fails as {@link SubmissionStore#submit(TenantId, List)}; with a {@link SocketException} if the database
     * did not answer in time, so that the outcome is unknown
     */
    Uni<Outcome> submit(TenantId tenant, Member member) {
        return CallerContextSwitch.resume(Uni.createFrom().emitter(emitter -> {
            PendingMember pendingMember = new PendingMember(member, emitter);
            if (member.rows().size() > MAX_WORKLOADS_PER_MEMBER) {
                rootContext().runOnContext(run -> commit(tenant, List.of(pendingMember), () -> {}));
            } else {
                enqueue(tenant, pendingMember);
            }
        }));
    }

    private void enqueue(TenantId tenant, PendingMember pendingMember) {
        boolean[] isFirst = {false};
        Backlog joined = backlogs.compute(tenant, (id, present) -> {
            isFirst[0] = present == null;
            Backlog backlog = present == null ? new Backlog(rootContext()) : present;
            backlog.pending.add(pendingMember);
            return backlog;
        });
        if (isFirst[0]) {
            joined.context.runOnContext(run -> commitNextGroup(tenant));
        }
    }

    /** A context without the data of any request, since the work outlasts that request. */
    private Context rootContext() {
        Context current = Vertx.currentContext();
        return current == null ? vertx.getOrCreateContext() : VertxContext.getRootContext(current);
    }

    /** Starts the tenant's next group, or ends its lane if nothing waits. */
    private void commitNextGroup(TenantId tenant) {
        List<PendingMember> group = new ArrayList<>();
        backlogs.compute(tenant, (id, backlog) -> {
            if (backlog != null) {
                group.addAll(backlog.takeBatch());
            }
            return group.isEmpty() ? null : backlog;
        });
        if (!group.isEmpty()) {
            commit(tenant, group, () -> commitNextGroup(tenant));
        }
    }

    /** @param then runs before the members learn their outcomes, so that the next group need not wait for that */
    private void commit(TenantId tenant, List<PendingMember> group, Runnable then) {
        submitGroup(tenant, group).onComplete(answer -> {
            if (answer.failed() && group.size() > 1 && mayConcernOneMember(answer.cause())) {
                commitOneByOne(tenant, new ArrayDeque<>(group), then);
                return;
            }
            if (answer.failed() && !mayConcernOneMember(answer.cause())) {
                vertx.setTimer(PAUSE_AFTER_OUTAGE.toMillis(), passed -> then.run());
            } else {
                then.run();
            }
            for (int i = 0; i < group.size(); i++) {
                if (answer.succeeded()) {
                    group.get(i).emitter().complete(answer.result().get(i));
                } else {
                    group.get(i).emitter().fail(answer.cause());
                }
            }
        });
    }

    private void commitOneByOne(TenantId tenant, Deque<PendingMember> group, Runnable then) {
        PendingMember first = group.poll();
        if (first == null) {
            then.run();
        } else {
            commit(tenant, List.of(first), () -> commitOneByOne(tenant, group, then));
        }
    }

    private Future<List<Outcome>> submitGroup(TenantId tenant, List<PendingMember> group) {
        Future<List<Outcome>> answer;
        try {
            answer = store.submit(
                    tenant, group.stream().map(PendingMember::member).toList());
        } catch (RuntimeException e) {
            return Future.failedFuture(e);
        }
        return answer.timeout(COMMIT_TIMEOUT.toSeconds(), TimeUnit.SECONDS)
                .recover(failure -> Future.failedFuture(
                        failure instanceof TimeoutException
                                ? new SocketException("PostgreSQL did not answer a submission within " + COMMIT_TIMEOUT)
                                : failure));
    }

    /**
     * Whether the database rolled the group back for a reason that one member may have caused: its data, or a lock that
     * it waited for. Without an SQLSTATE, the group may have been committed. An outage concerns all members.
     */
    private static boolean mayConcernOneMember(Throwable failure) {
        String state = DatabaseFailures.state(failure);
        return state != null
                && (!DatabaseFailures.isTransientState(state)
                        || state.startsWith("40")
                        || DatabaseFailures.isLockTimeout(failure));
    }
}
