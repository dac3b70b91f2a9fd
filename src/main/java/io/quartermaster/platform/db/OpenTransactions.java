package io.quartermaster.platform.db;

import io.quarkus.runtime.LaunchMode;
import io.smallrye.common.vertx.VertxContext;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Which work holds a connection to PostgreSQL, by Vert.x context and by thread. A call to another system in the
 * meantime would hold the connection and its locks until that system answers. So the clients of such systems check here
 * first.
 */
public final class OpenTransactions {

    private static final Logger LOG = Logger.getLogger(OpenTransactions.class);
    private static final String KEY = OpenTransactions.class.getName();
    private static final ThreadLocal<AtomicInteger> OF_THREAD = ThreadLocal.withInitial(AtomicInteger::new);

    private OpenTransactions() {}

    /** Runs work that holds a connection until it ends. */
    static <T> Uni<T> during(Supplier<Uni<T>> work) {
        return Uni.createFrom().deferred(() -> {
            Context context = Vertx.currentContext();
            if (context == null || !VertxContext.isDuplicatedContext(context)) {
                return work.get();
            }
            AtomicInteger open = ofContext(context);
            open.incrementAndGet();
            Uni<T> running;
            try {
                running = work.get();
            } catch (RuntimeException | Error e) {
                open.decrementAndGet();
                throw e;
            }
            return running.onTermination().invoke(open::decrementAndGet);
        });
    }

    /** As {@link #during}, for work that runs on the calling thread. */
    static <T> T runDuring(Supplier<T> work) {
        AtomicInteger open = OF_THREAD.get();
        open.incrementAndGet();
        try {
            return work.get();
        } finally {
            open.decrementAndGet();
        }
    }

    /**
     * Checks, before each call to another system, that no transaction is open. An open transaction makes the call fail
     * in tests; elsewhere it is only logged.
     *
     * @param system the system that is about to be called
     */
    public static void requireNone(String system) {
        Context context = Vertx.currentContext();
        boolean open = OF_THREAD.get().get() > 0
                || context != null
                        && VertxContext.isDuplicatedContext(context)
                        && ofContext(context).get() > 0;
        if (open) {
            IllegalStateException misuse =
                    new IllegalStateException(system + " is called while a connection to PostgreSQL is held");
            if (LaunchMode.current() == LaunchMode.TEST) {
                throw misuse;
            }
            LOG.warn("this call belongs outside of the transaction", misuse);
        }
    }

    private static AtomicInteger ofContext(Context context) {
        AtomicInteger open = context.getLocal(KEY);
        if (open == null) {
            open = new AtomicInteger();
            context.putLocal(KEY, open);
        }
        return open;
    }
}
