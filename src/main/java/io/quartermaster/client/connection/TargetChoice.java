package io.quartermaster.client.connection;

import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.settings.ContextFile;
import io.quartermaster.client.settings.ServerContext;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The choice of server and tenant. An option goes before a variable, and a variable before the current context. With
 * the option {@code --context}, variables choose nothing.
 *
 * @param context the context of the option {@code --context}
 */
public record TargetChoice(
        @Nullable String context,
        @Nullable String server,
        @Nullable String tenant) {

    public static final String SERVER_VARIABLE = "QM_SERVER";
    public static final String TENANT_VARIABLE = "QM_TENANT";
    public static final String CONTEXT_VARIABLE = "QM_CONTEXT";
    public static final String TOKEN_VARIABLE = "QM_TOKEN";

    /** Fails with a message that names the missing part. The name of the result is that of the context, or empty. */
    public ServerContext resolve(Map<String, String> environment, ContextFile file) {
        Map<String, String> variables = context == null ? environment : Map.of();
        Optional<String> wantedServer = first(server, variables.get(SERVER_VARIABLE));
        Optional<String> wantedTenant = first(tenant, variables.get(TENANT_VARIABLE));
        Optional<String> wantedContext = first(context, variables.get(CONTEXT_VARIABLE));
        Optional<ServerContext> base = Optional.empty();
        if (wantedContext.isPresent()) {
            base = Optional.of(ContextFile.requireKnown(file.read(), wantedContext.get()));
        } else if (wantedServer.isEmpty() || wantedTenant.isEmpty()) {
            base = file.read().currentContext();
        }
        try {
            URI chosen = wantedServer.isPresent()
                    ? ServerContext.server(wantedServer.get())
                    : base.map(ServerContext::server).orElseThrow(() -> missing("server", file));
            String name = wantedTenant.isPresent()
                    ? wantedTenant.get()
                    : base.map(ServerContext::tenant).orElseThrow(() -> missing("tenant", file));
            return new ServerContext(base.map(ServerContext::name).orElse(""), chosen, name);
        } catch (IllegalArgumentException e) {
            throw CommandFailure.usage(String.valueOf(e.getMessage()));
        }
    }

    private static Optional<String> first(@Nullable String option, @Nullable String variable) {
        return Optional.ofNullable(option)
                .or(() -> Optional.ofNullable(variable).filter(value -> !value.isBlank()));
    }

    private static CommandFailure missing(String what, ContextFile file) {
        List<ServerContext> known = file.read().sorted();
        String use = known.isEmpty()
                ? ""
                : "Choose one of your contexts with qm context use NAME ("
                        + known.stream().map(ServerContext::name).collect(Collectors.joining(", "))
                        + "), or add another"
                        + " with qm context add";
        return CommandFailure.usage("no " + what + " is chosen. "
                + (use.isEmpty() ? "Add a context with qm context add" : use) + " NAME --server URL "
                + "--tenant TENANT, or set " + SERVER_VARIABLE + " and " + TENANT_VARIABLE);
    }
}
