package io.quartermaster.access.keycloak;

import io.quartermaster.access.CallerContext;
import io.quartermaster.access.IdentityConfig;
import io.quartermaster.platform.OpenTransactions;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * The door to Keycloak's administration. Its client blocks, so every call has a virtual thread; the answer comes back on the caller's
 * Vert.x context. At most {@link #SIDE_BY_SIDE} calls run at once: Keycloak makes realms slowly, and logins go before.
 *
 * <p>A call that is given up ends: its thread is interrupted, its request is broken off, and its permit is free for the next call. So a
 * Keycloak that hangs costs each caller its patience, and nobody anything once it answers again.
 */
@ApplicationScoped
public class KeycloakAdmin {

    static final int SIDE_BY_SIDE = 4;

    private final Duration patience;
    private final KeycloakHttp http;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("keycloak-", 0).factory());
    private final Semaphore permits = new Semaphore(SIDE_BY_SIDE, true);

    KeycloakAdmin(IdentityConfig config) {
        this.patience = config.adminTimeout();
        this.http = new KeycloakHttp(config);
    }

    /** Runs the work with Keycloak's client. Fails with {@link KeycloakFailure}, which says what can be told to an operator. */
    public <T> Uni<T> call(Function<KeycloakClient, T> work) {
        return call(patience, work);
    }

    /** As {@link #call(Function)}, for a caller that goes on without an answer rather than wait longer. */
    public <T> Uni<T> call(Duration patience, Function<KeycloakClient, T> work) {
        Uni<T> call = Uni.createFrom()
                .<T>emitter(emitter -> start(Deadline.in(patience), work, emitter))
                .ifNoItem()
                .after(patience)
                .failWith(() -> Deadline.in(patience).passed());
        return Uni.createFrom().deferred(() -> {
            OpenTransactions.requireNone("Keycloak");
            return CallerContext.resume(call);
        });
    }

    private <T> void start(Deadline deadline, Function<KeycloakClient, T> work, UniEmitter<? super T> emitter) {
        Future<?> running = threads.submit(() -> {
            try {
                emitter.complete(withPermit(deadline, work));
            } catch (RuntimeException | Error e) {
                emitter.fail(e);
            }
        });
        emitter.onTermination(() -> running.cancel(true));
    }

    private <T> T withPermit(Deadline deadline, Function<KeycloakClient, T> work) {
        acquirePermit(deadline);
        try {
            return work.apply(new KeycloakClient(http, deadline));
        } finally {
            permits.release();
        }
    }

    private void acquirePermit(Deadline deadline) {
        try {
            if (!permits.tryAcquire(deadline.left().toNanos(), TimeUnit.NANOSECONDS)) {
                throw deadline.passed();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw deadline.passed();
        }
    }

    @PreDestroy
    void close() {
        threads.shutdownNow();
        http.close();
    }
}
