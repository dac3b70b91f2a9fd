package io.quartermaster.platform.http;

import io.smallrye.mutiny.Multi;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;
import io.vertx.ext.web.RoutingContext;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Supplier;
import org.jboss.logging.Logger;

/**
 * Sends the body of an answer in pieces, each when its reader has taken the one before. No thread waits for the reader. A reader that takes
 * nothing of a piece for too long, or an answer that lasts too long, is broken off, so that a part is never taken for the whole.
 */
public final class StreamedResponse {

    private static final Logger LOG = Logger.getLogger(StreamedResponse.class);

    private final RoutingContext request;
    private final HttpServerResponse response;
    private final Map<String, String> headers;
    private final Limits limits;
    private final ScheduledExecutorService timers;

    /**
     * @param patience how long a reader may take for one piece
     * @param longest how long an answer may take in all
     */
    public record Limits(Duration patience, Duration longest) {}

    /**
     * @param headers of the answer, which is a 200
     * @param timers where the limits are watched
     */
    public StreamedResponse(
            RoutingContext request, Map<String, String> headers, Limits limits, ScheduledExecutorService timers) {
        this.request = request;
        this.response = request.response();
        this.headers = Map.copyOf(headers);
        this.limits = limits;
        this.timers = timers;
    }

    /** The reader is gone or too slow: nothing is wrong with the service. */
    private static final class BrokenOff extends RuntimeException {
        private static final long serialVersionUID = 1L;

        BrokenOff(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * Completes when all was sent, or the answer was broken off. Fails only while nothing of the answer was sent, so a failure can still become a
     * problem document.
     */
    public Uni<Void> send(Multi<Buffer> pieces) {
        Multi<Buffer> wanted = HttpMethod.HEAD.equals(request.request().method())
                ? Multi.createFrom().empty()
                : pieces;
        return wanted.onItem()
                .transformToUniAndConcatenate(piece -> taken(() -> begun().write(piece)))
                .onItem()
                .ignoreAsUni()
                .chain(() -> taken(() -> begun().end()))
                .ifNoItem()
                .after(limits.longest())
                .on(timers)
                .failWith(() -> new BrokenOff("it lasted longer than " + limits.longest()))
                .onFailure(failure -> failure instanceof BrokenOff || response.headWritten())
                .recoverWithUni(this::breakOff);
    }

    private HttpServerResponse begun() {
        if (!response.headWritten()) {
            headers.forEach(response::putHeader);
            response.setChunked(request.request().version() != HttpVersion.HTTP_2);
        }
        return response;
    }

    /** Completes when what is sent has left for the reader. */
    private Uni<Void> taken(Supplier<Future<Void>> sending) {
        return Uni.createFrom()
                .<Void>emitter(sent -> sending.get().onComplete(done -> {
                    if (done.succeeded()) {
                        sent.complete(null);
                    } else {
                        sent.fail(new BrokenOff("its reader is gone: " + done.cause()));
                    }
                }))
                .ifNoItem()
                .after(limits.patience())
                .on(timers)
                .failWith(() -> new BrokenOff("its reader took nothing for " + limits.patience()));
    }

    /**
     * Completes when nothing more can be sent. The ordinary way to close a connection of HTTP/1.1 would first wait until its reader has taken what was
     * written, and then the end of the answer could still be sent as if it were whole.
     */
    private Uni<Void> breakOff(Throwable failure) {
        String path = request.request().path();
        if (failure instanceof BrokenOff) {
            LOG.debugf("the answer to %s was broken off: %s", path, failure.getMessage());
        } else {
            LOG.errorf(failure, "the answer to %s failed on the way and was broken off", path);
        }
        if (request.request().version() == HttpVersion.HTTP_2) {
            response.reset();
            return Uni.createFrom().voidItem();
        }
        ConnectionBase connection = (ConnectionBase) request.request().connection();
        return Uni.createFrom()
                .emitter(closed ->
                        connection.channelHandlerContext().close().addListener(done -> closed.complete(null)));
    }
}
