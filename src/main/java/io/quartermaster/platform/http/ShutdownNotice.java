package io.quartermaster.platform.http;

import io.quarkus.runtime.ShutdownDelayInitiatedEvent;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.event.Observes;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Announces that the service is about to stop. It comes before the service waits for its open requests. So requests
 * that last, such as live views and held calls, can end by themselves instead of using up that wait.
 *
 * <p>Safe for use by several threads.
 */
@ApplicationScoped
public class ShutdownNotice {

    private final List<Runnable> actions = new CopyOnWriteArrayList<>();
    private volatile boolean given;

    public ShutdownNotice() {}

    /** The setting {@code quarkus.shutdown.delay-enabled} makes Quarkus send this event. */
    public void give(@Observes ShutdownDelayInitiatedEvent event) {
        given = true;
        actions.forEach(Runnable::run);
    }

    /** Whether the service is about to stop. */
    public boolean isGiven() {
        return given;
    }

    /** Registers an action for that moment; it must not block. */
    public void onNotice(Runnable action) {
        actions.add(action);
    }
}
