package io.quartermaster.access.keycloak;

import io.quartermaster.access.CallerContextSwitch;
import io.quartermaster.access.IdentityConfig;
import io.quartermaster.platform.db.OpenTransactions;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import jakarta.annotation.PreDestroy;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Function;

/**
 * The door to Keycloak's administration. Its client blocks, so every call has a virtual thread; the answer comes back on the caller's
 * Vert.x context. At most {@link #SIDE_BY_SIDE} requests run at once: Keycloak makes realms slowly, and logins go before. A call that makes
 * many requests waits in line for each, so that it holds up the calls beside it for one request at a time.
 *
 * <p>A call that is given up ends: its thread is interrupted, its request is broken off, and its permit is free for the next request. So a
 * Keycloak that hangs costs each caller its patience, and nobody anything once it answers again.
 */
@ApplicationScoped
public class KeycloakAdmin {

    static final int SIDE_BY_SIDE = 4;

    private final Duration patience;
    private final KeycloakHttp http;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("keycloak-", 0).factory());

    KeycloakAdmin(IdentityConfig config) {
        this.patience = config.adminTimeout();
        this.http = new KeycloakHttp(config, SIDE_BY_SIDE);
    }

    /** Runs the work with Keycloak's client. Fails with {@link KeycloakFailure}, which says what can be told to an operator. */
    public <T> Uni<T> call(Function<KeycloakClient, T> work) {
        return call(patience, work);
    }

    /** As {@link #call(Function)}, for a caller that goes on without an answer rather than wait longer. */
    public <T> Uni<T> call(Duration patience, Function<KeycloakClient, T> work) {
        Uni<T> call = Uni.createFrom()
                .<T>emitter(emitter -> start(CallDeadline.in(patience), work, emitter))
                .ifNoItem()
                .after(patience)
                .failWith(() -> CallDeadline.in(patience).passed());
        return Uni.createFrom().deferred(() -> {
            OpenTransactions.requireNone("Keycloak");
            return CallerContextSwitch.resume(call);
        });
    }

    private <T> void start(CallDeadline callDeadline, Function<KeycloakClient, T> work, UniEmitter<? super T> emitter) {
        Future<?> running = threads.submit(() -> {
            try {
                emitter.complete(work.apply(new KeycloakClient(http, callDeadline)));
            } catch (RuntimeException | Error e) {
                emitter.fail(e);
            }
        });
        emitter.onTermination(() -> running.cancel(true));
    }

    @PreDestroy
    void close() {
        threads.shutdownNow();
        http.close();
    }
}
