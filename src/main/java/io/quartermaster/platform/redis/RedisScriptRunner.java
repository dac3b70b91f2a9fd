package io.quartermaster.platform.redis;

import io.netty.util.concurrent.EventExecutor;
import io.quartermaster.platform.SharedCall;
import io.quartermaster.platform.db.OpenTransactions;
import io.smallrye.mutiny.TimeoutException;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Vertx;
import io.vertx.core.impl.VertxInternal;
import io.vertx.mutiny.redis.client.RedisAPI;
import io.vertx.mutiny.redis.client.Response;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;

/**
 * Runs Lua scripts in Redis, each in one round trip. When Redis does not answer in time, it gets no calls for a short
 * pause. During the pause, calls fail immediately with {@link RedisUnavailable}, so that requests take their slower
 * path without each waiting for a timeout. After each pause, one call tries Redis again.
 *
 * <p>An answer that is late because this service is busy is no sign of a failure of Redis: it may have arrived long ago
 * and wait for an event loop to read it. The slower path would then make a busy service busier. So a late answer counts
 * against Redis only if the event loops are on time.
 */
@ApplicationScoped
public class RedisScriptRunner {

    /** How long one call may take. A healthy Redis answers in well under a millisecond. */
    static final Duration CALL_TIMEOUT = Duration.ofSeconds(1);
    /** Work that an event loop takes up later than this has waited behind other work. */
    static final Duration LATE_THRESHOLD = Duration.ofMillis(50);
    /** How many times the timeout of a call is extended because the service itself is late. */
    private static final int MAX_WAITS = 5;
    /** How long Redis gets no calls after a failure. */
    static final Duration PAUSE = Duration.ofSeconds(1);

    private static final Logger LOG = Logger.getLogger(RedisScriptRunner.class);

    private final RedisAPI redis;
    private final Vertx vertx;
    private final LongSupplier nanos;
    /** Zero while Redis is healthy; otherwise the end of the pause in calls. */
    private final AtomicLong pausedUntil = new AtomicLong();

    @Inject
    RedisScriptRunner(RedisAPI redis, Vertx vertx) {
        this(redis, vertx, System::nanoTime);
    }

    RedisScriptRunner(RedisAPI redis, Vertx vertx, LongSupplier nanos) {
        this.redis = redis;
        this.vertx = vertx;
        this.nanos = nanos;
    }

    /**
     * For programs and tests without the service.
     *
     * @param vertx whose event loops read the answers of Redis
     */
    public static RedisScriptRunner on(RedisAPI redis, Vertx vertx) {
        return new RedisScriptRunner(redis, vertx);
    }

    /** Thrown when Redis did not answer in time. Whether the script ran is not known. */
    public static class RedisUnavailable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        RedisUnavailable(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * Thrown when Redis answers, but a key of the call holds a value of another type than the script expects. Other
     * keys are not affected.
     */
    public static final class WrongKeyType extends RedisUnavailable {
        private static final long serialVersionUID = 1L;

        WrongKeyType(String message) {
            super(message);
        }
    }

    public Uni<Response> run(RedisScript script, List<String> keys, List<String> arguments) {
        return Uni.createFrom().deferred(() -> guarded(call(script, keys, arguments)));
    }

    /** The command HGETALL, with the same timeout and pause as scripts. */
    public Uni<Response> hgetall(String key) {
        return Uni.createFrom().deferred(() -> guarded(redis.hgetall(key)));
    }

    private Uni<Response> call(RedisScript script, List<String> keys, List<String> arguments) {
        List<String> words = new ArrayList<>(2 + keys.size() + arguments.size());
        words.add(script.sha1());
        words.add(Integer.toString(keys.size()));
        words.addAll(keys);
        words.addAll(arguments);
        return redis.evalsha(words)
                .onFailure(e -> String.valueOf(e.getMessage()).startsWith("NOSCRIPT"))
                .recoverWithUni(() -> {
                    words.set(0, script.source());
                    return redis.eval(words);
                });
    }

    private Uni<Response> guarded(Uni<Response> call) {
        OpenTransactions.requireNone("Redis");
        long until = pausedUntil.get();
        long now = nanos.getAsLong();
        if (until != 0 && (now - until < 0 || !pausedUntil.compareAndSet(until, pauseEnd(now)))) {
            return Uni.createFrom()
                    .failure(new RedisUnavailable("Redis failed a moment ago and gets no calls for a second"));
        }
        // The call is sent once, and its timeout may be extended.
        return await(new SharedCall<>(call), MAX_WAITS)
                .invoke(this::recordSuccess)
                .onFailure()
                .transform(this::recordFailure);
    }

    private Uni<Response> await(SharedCall<Response> call, int waits) {
        long begun = System.nanoTime();
        return call.answer().ifNoItem().after(CALL_TIMEOUT).recoverWithUni(() -> isServiceLate(begun)
                .chain(late -> late && waits > 1
                        ? await(call, waits - 1)
                        : call.answer().ifNoItem().after(Duration.ofMillis(1)).failWith(new TimeoutException())));
    }

    /** Whether the timeout itself fired late, or an event loop is late to take work. */
    private Uni<Boolean> isServiceLate(long begun) {
        if (System.nanoTime() - begun > CALL_TIMEOUT.plus(LATE_THRESHOLD).toNanos()) {
            return Uni.createFrom().item(true);
        }
        List<EventExecutor> loops = new ArrayList<>();
        ((VertxInternal) vertx).getEventLoopGroup().forEach(loops::add);
        long asked = System.nanoTime();
        return Uni.createFrom()
                .<Boolean>emitter(emitter -> {
                    AtomicInteger left = new AtomicInteger(loops.size());
                    for (EventExecutor loop : loops) {
                        loop.execute(() -> {
                            if (left.decrementAndGet() == 0) {
                                emitter.complete(System.nanoTime() - asked > LATE_THRESHOLD.toNanos());
                            }
                        });
                    }
                })
                .ifNoItem()
                .after(CALL_TIMEOUT)
                .recoverWithItem(true);
    }

    private void recordSuccess() {
        if (pausedUntil.getAndSet(0) != 0) {
            LOG.info("Redis answers again");
        }
    }

    private RedisUnavailable recordFailure(Throwable cause) {
        String message = String.valueOf(cause.getMessage());
        if (message.contains("WRONGTYPE")) {
            recordSuccess();
            return new WrongKeyType(message);
        }
        if (pausedUntil.getAndSet(pauseEnd(nanos.getAsLong())) == 0) {
            LOG.warnf("Redis does not answer (%s); the service continues without it", cause);
        }
        return new RedisUnavailable(message);
    }

    private static long pauseEnd(long nanos) {
        long until = nanos + PAUSE.toNanos();
        return until == 0 ? 1 : until;
    }
}
