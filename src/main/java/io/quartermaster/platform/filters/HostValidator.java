package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.runtime.filters.Filters;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemWriter;
import io.vertx.core.net.HostAndPort;
import io.vertx.ext.web.RoutingContext;
import jakarta.enterprise.event.Observes;
import jakarta.inject.Singleton;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.eclipse.microprofile.config.inject.ConfigProperty;

/**
 * Refuses requests whose {@code Host} is neither a loopback name nor listed in
 * {@code quartermaster.http.allowed-hosts}, while the API listens on a loopback address only. Such a request comes from
 * a web page that gave its own name to this machine (DNS rebinding). Where the API listens on other addresses, the
 * networks in front of it control access.
 */
@Singleton
public class HostValidator {

    private static final String ANY = "*";

    private final Set<String> allowed;
    private final boolean isRestricted;
    private final ProblemWriter problems;

    HostValidator(
            HttpConfig config, @ConfigProperty(name = "quarkus.http.host") String listensOn, ProblemWriter problems) {
        this.allowed = config.allowedHosts().orElse(Set.of()).stream()
                .map(name -> name.toLowerCase(Locale.ROOT))
                .collect(Collectors.toUnmodifiableSet());
        this.isRestricted = LoopbackHosts.isLoopbackName(listensOn) && !allowed.contains(ANY);
        this.problems = problems;
    }

    void register(@Observes Filters filters) {
        if (isRestricted) {
            filters.register(this::check, FilterPriorities.HOSTS);
        }
    }

    private void check(RoutingContext request) {
        HostAndPort host = request.request().authority();
        // Every browser sends a Host.
        if (host == null
                || LoopbackHosts.isLoopbackName(host.host())
                || allowed.contains(host.host().toLowerCase(Locale.ROOT))) {
            request.next();
            return;
        }
        Problem.Field field = new Problem.Field(
                "Host",
                "the API listens on a loopback address and does not answer to this name",
                "localhost, a loopback address, or a name in quartermaster.http.allowed-hosts");
        problems.end(request, Problem.of(400, "invalid-input", field.field() + ": " + field.message(), List.of(field)));
    }
}
