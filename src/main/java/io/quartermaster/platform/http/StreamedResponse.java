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
 * Sends the body of an answer in pieces, each when the client has read the one before. No thread waits for the client.
 * The answer is aborted when the client reads nothing for too long, or when the whole lasts too long. An abort is
 * visible to the client, so that it never takes a part for the whole.
 */
public final class StreamedResponse {

    private static final Logger LOG = Logger.getLogger(StreamedResponse.class);

    private final RoutingContext request;
    private final HttpServerResponse response;
    private final Map<String, String> headers;
    private final Limits limits;
    private final ScheduledExecutorService timers;

    /**
     * @param pieceTimeout how long the client may take to read one piece
     * @param maxDuration how long an answer may take in total
     */
    public record Limits(Duration pieceTimeout, Duration maxDuration) {}

    /**
     * @param headers of the answer, whose status is 200
     * @param timers the timers that enforce the limits
     */
    public StreamedResponse(
            RoutingContext request, Map<String, String> headers, Limits limits, ScheduledExecutorService timers) {
        this.request = request;
        this.response = request.response();
        this.headers = Map.copyOf(headers);
        this.limits = limits;
        this.timers = timers;
    }

    /** Signals that the client is gone or too slow, which is no failure of the service. */
    private static final class ResponseAborted extends RuntimeException {
        private static final long serialVersionUID = 1L;

        ResponseAborted(String message) {
            super(message, null, false, false);
        }
    }

    /**
     * Completes when everything was sent, or the answer was aborted. Fails only before the first piece was sent, so
     * that a failure can still become a problem document.
     */
    public Uni<Void> send(Multi<Buffer> pieces) {
        Multi<Buffer> wanted = HttpMethod.HEAD.equals(request.request().method())
                ? Multi.createFrom().empty()
                : pieces;
        return wanted.onItem()
                .transformToUniAndConcatenate(
                        piece -> write(() -> startedResponse().write(piece)))
                .onItem()
                .ignoreAsUni()
                .chain(() -> write(() -> startedResponse().end()))
                .ifNoItem()
                .after(limits.maxDuration())
                .on(timers)
                .failWith(() -> new ResponseAborted("it lasted longer than " + limits.maxDuration()))
                .onFailure(failure -> failure instanceof ResponseAborted || response.headWritten())
                .recoverWithUni(this::abort);
    }

    private HttpServerResponse startedResponse() {
        if (!response.headWritten()) {
            headers.forEach(response::putHeader);
            response.setChunked(request.request().version() != HttpVersion.HTTP_2);
        }
        return response;
    }

    /** Completes when the piece was written to the connection. */
    private Uni<Void> write(Supplier<Future<Void>> sending) {
        return Uni.createFrom()
                .<Void>emitter(sent -> sending.get().onComplete(done -> {
                    if (done.succeeded()) {
                        sent.complete(null);
                    } else {
                        sent.fail(new ResponseAborted("its client is gone: " + done.cause()));
                    }
                }))
                .ifNoItem()
                .after(limits.pieceTimeout())
                .on(timers)
                .failWith(() -> new ResponseAborted("its client read nothing for " + limits.pieceTimeout()));
    }

    /**
     * Completes when nothing more can be sent. An ordinary close of an HTTP/1.1 connection would first wait until the
     * client has read what was written. Then the end of the answer could still be sent, and the answer would look
     * complete.
     */
    private Uni<Void> abort(Throwable failure) {
        String path = request.request().path();
        if (failure instanceof ResponseAborted) {
            LOG.debugf("the answer to %s was aborted: %s", path, failure.getMessage());
        } else {
            LOG.errorf(failure, "the answer to %s failed after it had begun and was aborted", path);
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
