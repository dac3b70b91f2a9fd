package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.settings.ContextFile;
import io.quartermaster.client.settings.ServerContext;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code qm context}: the servers and tenants that a person works with. */
@Command(
        name = "context",
        description = {
            "Names the servers and tenants that you work with.",
            "Without a subcommand it lists them; * marks the current one."
        },
        footer = {
            "%nExample:%n",
            "  qm context add work --server https://qm.example.org --tenant acme",
            "  qm context use work"
        })
final class ContextCommand extends ContextListing {

    ContextCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        return list();
    }

    /** {@code qm context list} */
    @Command(name = "list", description = "Lists your contexts.", footer = "%nExample:%n  qm context list -o json")
    static final class ListContexts extends ContextListing {
        ListContexts(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            return list();
        }
    }

    /** {@code qm context add} */
    @Command(
            name = "add",
            description = {
                "Adds a context, or replaces the one of that name, and uses it from now on.",
                "--server and --tenant are needed. The operator's people use the tenant \"operator\"."
            },
            footer = "%nExample:%n  qm context add work --server https://qm.example.org --tenant acme")
    static final class AddContext extends PersonCommand {
        @Parameters(paramLabel = "NAME", description = "Name of your choice")
        private String name = "";

        @Option(names = "--keep", description = "Keep using the current context")
        private boolean keep;

        AddContext(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            @Nullable String server = serverOption();
            @Nullable String tenant = tenantOption();
            if (server == null || tenant == null) {
                throw CommandFailure.usage("qm context add needs --server URL and --tenant TENANT");
            }
            if (!name.matches("[A-Za-z0-9][A-Za-z0-9._-]{0,62}")) {
                throw CommandFailure.usage("\"" + name + "\" is not a name of a context; accepted: up to 63 letters, "
                        + "digits, dots, hyphens and underscores, a letter or digit first");
            }
            ServerContext context;
            try {
                context = new ServerContext(name, ServerContext.server(server), tenant);
            } catch (IllegalArgumentException e) {
                throw CommandFailure.usage(String.valueOf(e.getMessage()));
            }
            contexts().put(context, !keep);
            warnIfUnencrypted(context);
            ObjectNode document =
                    document(context, name.equals(contexts().read().current()));
            print(document, List.of(name), () -> out().println("Context " + name + " is tenant " + context.tenant()
                    + " at " + context.server() + ". Sign in with: " + signIn(context)));
            return ExitStatus.OK;
        }
    }

    /** {@code qm context use} */
    @Command(
            name = "use",
            description = "Makes a context the current one.",
            footer = "%nExample:%n  qm context use work")
    static final class UseContext extends PersonCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the context")
        private String name = "";

        UseContext(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            contexts().use(name);
            ServerContext context = ContextFile.requireKnown(contexts().read(), name);
            print(document(context, true), List.of(name), () -> out().println("Using context " + name + ": tenant "
                    + context.tenant() + " at " + context.server() + "."));
            return ExitStatus.OK;
        }
    }

    /** {@code qm context remove} */
    @Command(
            name = "remove",
            description = "Removes a context. Its login stays until qm logout.",
            footer = "%nExample:%n  qm context remove work")
    static final class RemoveContext extends PersonCommand {
        @Parameters(paramLabel = "NAME", description = "Name of the context")
        private String name = "";

        RemoveContext(ClientEnvironment environment) {
            super(environment);
        }

        @Override
        protected ExitStatus run() {
            ContextFile.Contexts before = contexts().read();
            ServerContext context = ContextFile.requireKnown(before, name);
            contexts().remove(name);
            print(document(context, false), List.of(name), () -> out().println("Context " + name + " is removed."));
            if (name.equals(before.current())) {
                remark("No context is current now. "
                        + (before.byName().size() > 1
                                ? "Choose one: " + called() + " context use "
                                        + before.sorted().stream()
                                                .map(ServerContext::name)
                                                .filter(other -> !other.equals(name))
                                                .collect(Collectors.joining("|"))
                                : "Add one: " + called() + " context add NAME --server URL --tenant TENANT"));
            }
            return ExitStatus.OK;
        }
    }

    private static ObjectNode document(ServerContext context, boolean current) {
        return DocumentWriter.JSON
                .createObjectNode()
                .put("name", context.name())
                .put("server", context.server().toString())
                .put("tenant", context.tenant())
                .put("current", current);
    }
}
