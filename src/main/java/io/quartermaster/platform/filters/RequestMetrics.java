package io.quartermaster.platform.filters;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.http.Outcome;
import io.quarkus.vertx.http.runtime.filters.Filters;
import io.vertx.core.http.HttpMethod;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import jakarta.ws.rs.container.ResourceInfo;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jboss.resteasy.reactive.server.ServerRequestFilter;

/**
 * Measures requests under {@code http.server.requests}. Each label takes its values from a closed set: {@code method}
 * is a method of the API, or {@code OTHER}; {@code uri} is the template of a route, or {@code UNKNOWN} where no route
 * was found; {@code status} is a status of the service, or {@code RESET} where the connection ended before the answer
 * did.
 *
 * <p>The framework's own metric labels requests that match no route with the method and path as sent. It keeps each
 * label forever, so any caller could fill the memory. {@code application.properties} turns it off.
 */
@Singleton
public class RequestMetrics {

    static final String NAME = "http.server.requests";

    private static final String ROUTE = RequestMetrics.class.getName();
    private static final String UNKNOWN = "UNKNOWN";
    private static final String OTHER = "OTHER";
    private static final String RESET = "RESET";

    private final Timer.Builder timer =
            Timer.builder(NAME).description("Time from the head of a request to the end of its answer");
    private final MeterRegistry metrics;
    private final Map<Method, String> templates = new ConcurrentHashMap<>();

    RequestMetrics(MeterRegistry metrics) {
        this.metrics = metrics;
    }

    void register(@Observes Filters filters) {
        filters.register(this::measure, FilterPriorities.METRICS);
    }

    /** Runs first among the filters after route matching, so that refusals of callers are measured by route, too. */
    @ServerRequestFilter(priority = 0)
    public void name(ResourceInfo resource, RoutingContext request) {
        request.put(ROUTE, templates.computeIfAbsent(resource.getResourceMethod(), ServedMethods::template));
    }

    private void measure(RoutingContext request) {
        Timer.Sample begun = Timer.start(metrics);
        request.addEndHandler(end -> begun.stop(timer(request, end.failed())));
        request.next();
    }

    private Timer timer(RoutingContext request, boolean isReset) {
        HttpMethod method = request.request().method();
        int status = request.response().getStatusCode();
        String route = request.get(ROUTE);
        return timer.withRegistry(metrics)
                .withTags(Tags.of(
                                "method",
                                MethodValidator.isKnown(method) ? method.name() : OTHER,
                                "uri",
                                route == null ? UNKNOWN : route,
                                "status",
                                isReset ? RESET : Integer.toString(status))
                        .and((isReset ? Outcome.CLIENT_ERROR : Outcome.forStatus(status)).asTag()));
    }
}
