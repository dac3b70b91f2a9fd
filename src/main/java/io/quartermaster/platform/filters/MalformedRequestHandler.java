package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.ManagementInterface;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemWriter;
import io.vertx.core.VertxException;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import org.jboss.logging.Logger;

/**
 * Answers requests whose {@code Host} or {@code :authority} is missing or malformed: the router fails them before any
 * filter sees them.
 */
@Singleton
public class MalformedRequestHandler {

    private static final Logger LOG = Logger.getLogger(MalformedRequestHandler.class);

    private static final int BAD_REQUEST = 400;

    private static final Problem.Field HOST = new Problem.Field(
            "Host",
            "the Host header of HTTP/1.1, or the :authority of HTTP/2, is missing or malformed",
            "one host name or address, with or without a port, such as localhost:8080");

    private static final Problem REFUSAL =
            Problem.of(BAD_REQUEST, "invalid-input", HOST.field() + ": " + HOST.message(), List.of(HOST));

    private final ProblemWriter problems;

    MalformedRequestHandler(ProblemWriter problems) {
        this.problems = problems;
    }

    void register(@Observes Router router) {
        router.route().order(Integer.MIN_VALUE).failureHandler(this::answer);
    }

    void registerManagement(@Observes ManagementInterface management) {
        register(management.router());
    }

    private void answer(RoutingContext request) {
        if (request.statusCode() == BAD_REQUEST && request.failure() instanceof VertxException failure) {
            LOG.debugf("refused a malformed request: %s", failure.getMessage());
            ResponseHeaders.addTo(request);
            problems.end(request, REFUSAL);
        } else {
            request.next();
        }
    }
}
