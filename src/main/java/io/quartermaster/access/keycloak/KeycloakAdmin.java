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
 * caller's Vert.x context. At most {@link #MAX_CONCURRENT_CALLS} requests run at the same time: Keycloak creates realms
 * slowly, and logins have priority. A call with many requests queues for each of them, so that concurrent calls wait
 * for one request at a time.
 *
 * <p>A call that exceeds its time limit ends: its thread is interrupted, its request is aborted, and its permit is free
 * for the next request. So while Keycloak hangs, each caller waits for its time limit, and no delay remains once
 * Keycloak answers again.
 */
@ApplicationScoped
public class KeycloakAdmin {

    static final int MAX_CONCURRENT_CALLS = 4;

    private final Duration timeout;
    private final KeycloakHttp http;
    private final ExecutorService threads = Executors.newThreadPerTaskExecutor(
            Thread.ofVirtual().name("keycloak-", 0).factory());

    KeycloakAdmin(IdentityConfig config) {
        this.timeout = config.adminTimeout();
        this.http = new KeycloakHttp(config, MAX_CONCURRENT_CALLS);
    }

    /** Runs the work with Keycloak's client. Fails with {@link KeycloakFailure}, whose message an operator may see. */
    public <T> Uni<T> call(Function<KeycloakClient, T> work) {
        return call(timeout, work);
    }

    /** As {@link #call(Function)}, for a caller that continues without an answer rather than wait longer. */
    public <T> Uni<T> call(Duration timeout, Function<KeycloakClient, T> work) {
        Uni<T> call = Uni.createFrom()
                .<T>emitter(emitter -> start(CallDeadline.after(timeout), work, emitter))
                .ifNoItem()
                .after(timeout)
                .failWith(() -> CallDeadline.after(timeout).timeoutFailure());
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
