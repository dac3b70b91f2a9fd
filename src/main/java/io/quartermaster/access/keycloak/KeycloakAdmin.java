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
 * Access to Keycloak's administration. Its client blocks, so every call has a virtual thread; the answer returns on the
 * caller's Vert.x context. At most {@link #SIDE_BY_SIDE} requests run at the same time: Keycloak creates realms slowly,
 * and logins have priority. A call with many requests queues for each of them, so that concurrent calls wait for one
 * request at a time.
 *
 * <p>A call that exceeds its time limit ends: its thread is interrupted, its request is aborted, and its permit is free
 * for the next request. So while Keycloak hangs, each caller waits for its time limit, and no delay remains once
 * Keycloak answers again.
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

    /** Runs the work with Keycloak's client. Fails with {@link KeycloakFailure}, whose message an operator may see. */
    public <T> Uni<T> call(Function<KeycloakClient, T> work) {
        return call(patience, work);
    }

    /** As {@link #call(Function)}, for a caller that continues without an answer rather than wait longer. */
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
