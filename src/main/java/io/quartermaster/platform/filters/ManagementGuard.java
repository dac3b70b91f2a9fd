package io.quartermaster.platform.filters;

import io.quarkus.micrometer.runtime.export.handlers.PrometheusHandler;
import io.quarkus.vertx.http.ManagementInterface;
import io.quartermaster.platform.health.HealthCheckThreads;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemWriter;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Optional;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Guards the listener for health and metrics, which requires no token. Only reads pass. No script of a web page can
 * read it: neither from another origin, which the framework would allow, nor by DNS rebinding.
 */
@Singleton
public class ManagementGuard {

    private static final Problem READ_ONLY =
            Problem.of(405, "method-not-allowed", "The management listener answers GET and HEAD only.", List.of());
    private static final Problem NOT_FOR_WEB_PAGES = Problem.of(
            403,
            "forbidden",
            "The management listener does not answer scripts of web pages, and over the loopback interface only "
                    + "to a loopback Host.",
            List.of());

    private final ProblemWriter problems;
    private final HealthCheckThreads threads;
    private final String metricsPath;
    private final PrometheusHandler metrics = new PrometheusHandler(false, Optional.empty());

    ManagementGuard(
            ProblemWriter problems,
            HealthCheckThreads threads,
            @ConfigProperty(name = "quarkus.micrometer.export.prometheus.path") String metricsPath) {
        this.problems = problems;
        this.threads = threads;
        this.metricsPath = metricsPath;
    }

    void register(@Observes ManagementInterface management) {
        management.router().route().order(Integer.MIN_VALUE).handler(this::check);
        management.router().route(metricsPath).order(Integer.MIN_VALUE + 1).handler(this::serveMetrics);
    }

    /** Replaces the framework's route, which waits for a request thread. */
    private void serveMetrics(RoutingContext request) {
        threads.execute(request.vertx().getOrCreateContext(), () -> {
            try {
                metrics.handle(request);
            } catch (RuntimeException e) {
                request.fail(e);
            }
        });
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
