package io.quartermaster.access;

import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.core.Context;
import io.vertx.core.Vertx;

/**
 * Brings an answer back to where it was asked for. What several requests wait for together is answered on one thread; each of them must go on
 * as itself, not as the request that asked first.
 */
public final class CallerContextSwitch {

    private CallerContextSwitch() {}

    public static <T> Uni<T> resume(Uni<T> answer) {
        Context context = Vertx.currentContext();
        return context == null
                ? answer.emitOn(Infrastructure.getDefaultExecutor())
                : answer.emitOn(task -> context.runOnContext(ignored -> task.run()));
    }
}
