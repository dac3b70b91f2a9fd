package io.quartermaster.platform;

import io.quarkus.vertx.http.ManagementInterface;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;

/**
 * Guards the listener for health and metrics, which asks for no token. Only reads pass. No script of a web page reads it: neither from another
 * origin, which the framework would allow, nor by DNS rebinding.
 */
@Singleton
public class ManagementListener {

    private static final Problem READ_ONLY =
            Problem.of(405, "method-not-allowed", "The management listener answers GET and HEAD only.", List.of());
    private static final Problem NOT_FOR_WEB_PAGES = Problem.of(
            403,
            "forbidden",
            "The management listener does not answer scripts of web pages, and over the loopback interface only to a loopback Host.",
            List.of());

    private final ProblemWriter problems;

    ManagementListener(ProblemWriter problems) {
        this.problems = problems;
    }

    void register(@Observes ManagementInterface management) {
        management.router().route().order(Integer.MIN_VALUE).handler(this::check);
    }

    private void check(RoutingContext request) {
        HttpMethod method = request.request().method();
        if (!HttpMethod.GET.equals(method) && !HttpMethod.HEAD.equals(method)) {
            problems.end(request, READ_ONLY);
        } else if (request.request().headers().contains(HttpHeaders.ORIGIN)
                || !LoopbackHosts.isAcceptable(request.request())) {
            problems.end(request, NOT_FOR_WEB_PAGES);
        } else {
            request.next();
        }
    }
}
