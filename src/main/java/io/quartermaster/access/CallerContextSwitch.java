package io.quartermaster.access;

import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.infrastructure.Infrastructure;
import io.vertx.core.Context;
import io.vertx.core.Vertx;

/**
 * Returns an answer to the Vert.x context that requested it. Several requests that share a call receive its answer on
 * one thread; each must continue in its own context, not in that of the first request.
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
