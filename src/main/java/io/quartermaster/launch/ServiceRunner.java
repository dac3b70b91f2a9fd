package io.quartermaster.launch;

import io.quarkus.runtime.Quarkus;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** Runs the service in this process until it ends. */
public final class ServiceRunner {

    private final Consumer<String> warn;
    private final AtomicInteger exitCode = new AtomicInteger(ExitCodes.OK);

    /** @param warn receives one message for a person when the service ends by a failure */
    public ServiceRunner(Consumer<String> warn) {
        this.warn = warn;
    }

    /** Runs the service with PostgreSQL, Redis and Keycloak given from outside; it logs to the console. */
    public int run(ExternalServices given, ListenOptions listen) {
        given.properties().forEach(System::setProperty);
        listen.apply();
        return run();
    }

    /** Runs the service as the system properties configure it. Returns its exit code when it was asked to end. */
    public int run() {
        // platform.filters.UriValidator makes the same check, and says what is wrong.
        System.setProperty("vertx.disableURIValidation", "true");
        Quarkus.run(null, (code, failure) -> {
            if (failure != null) {
                warn.accept("The service ended: " + StartFailureText.rootMessage(failure));
                exitCode.compareAndSet(ExitCodes.OK, ExitCodes.CANNOT_START);
            } else if (code != 0) {
                exitCode.compareAndSet(ExitCodes.OK, code);
            }
        });
        return exitCode.get();
    }

    /** Ends the service from another thread; {@link #run()} then returns this code. */
    public void end(int code) {
        exitCode.set(code);
        Quarkus.asyncExit(code);
    }
}
