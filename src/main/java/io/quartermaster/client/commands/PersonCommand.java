package io.quartermaster.client.commands;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.BearerToken;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.TargetChoice;
import io.quartermaster.client.connection.WaitIndicator;
import io.quartermaster.client.connection.WebClient;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.LocalTimes;
import io.quartermaster.client.output.OutputFormat;
import io.quartermaster.client.output.TextStyle;
import io.quartermaster.client.output.TextTable;
import io.quartermaster.client.settings.ContextFile;
import io.quartermaster.client.settings.ServerContext;
import io.quartermaster.client.settings.TokenFile;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * A command of a person: its common options, and its end with a message instead of a stack trace. Each object runs
 * once.
 */
@Command(
        mixinStandardHelpOptions = true,
        sortOptions = false,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:the command failed",
            "2:an option or a file is wrong, or no server is chosen",
            "3:you are not signed in",
            "4:there is no such resource, or you may not see it",
            "5:the service refused the request",
            "6:the service or Keycloak does not answer, or failed"
        })
public abstract class PersonCommand implements Callable<Integer> {

    private final ClientEnvironment environment;

    @Spec
    private @Nullable CommandSpec spec;

    @Option(
            names = {"-o", "--output"},
            paramLabel = "FORMAT",
            order = 900,
            defaultValue = "table",
            description = "table, json, yaml, or name: one id or name per line. Default: ${DEFAULT-VALUE}")
    private OutputFormat format = OutputFormat.TABLE;

    @Option(names = "--context", paramLabel = "NAME", order = 901, description = "Context to use for this command")
    private @Nullable String context;

    @Option(names = "--server", paramLabel = "URL", order = 902, description = "Address of the service")
    private @Nullable String server;

    @Option(names = "--tenant", paramLabel = "TENANT", order = 903, description = "Name of the tenant")
    private @Nullable String tenant;

    @Option(
            names = "--debug",
            order = 904,
            description = "Print each request with its id, and the stack trace of an error in this program")
    private boolean debug;

    private @Nullable WebClient web;
    private @Nullable ServiceConnection connection;

    protected PersonCommand(ClientEnvironment environment) {
        this.environment = environment;
    }

    /** Does the work of the command. */
    protected abstract ExitStatus run();

    @Override
    public final Integer call() {
        try {
            requireReadableWords();
            ExitStatus status = run();
            if (out().checkError()) {
                err().println("qm: the output could not be written");
                return status == ExitStatus.OK ? ExitStatus.FAILED.code() : status.code();
            }
            return status.code();
        } catch (CommandFailure e) {
            err().println("qm: " + TextStyle.printable(e.text()));
            e.details().forEach(detail -> err().println("  " + TextStyle.printable(detail)));
            if (debug && e.requestId() != null) {
                err().println("  request id: " + TextStyle.printable(e.requestId()));
            }
            return e.status().code();
        } catch (RuntimeException e) {
            // Messages of errors may quote a secret.
            err().println("qm: an error in this program: " + e.getClass().getName()
                    + (debug ? "" : " (--debug prints more)"));
            if (debug) {
                e.printStackTrace(err());
            }
            return ExitStatus.FAILED.code();
        } finally {
            out().flush();
            err().flush();
        }
    }

    /** Refuses words that the JVM could not decode; the service would get them wrong without a notice. */
    private void requireReadableWords() {
        for (String word : spec().root().commandLine().getParseResult().originalArgs()) {
            if (!TextStyle.isDecoded(word)) {
                throw CommandFailure.usage("the letters of \"" + word + "\" are not those of your locale. Set LC_ALL to"
                        + " a locale of UTF-8, such as C.UTF-8");
            }
        }
    }

    protected final CommandSpec spec() {
        if (spec == null) {
            throw new IllegalStateException("the command has no parser");
        }
        return spec;
    }

    protected final ClientEnvironment environment() {
        return environment;
    }

    protected final PrintWriter out() {
        return spec().commandLine().getOut();
    }

    protected final PrintWriter err() {
        return spec().commandLine().getErr();
    }

    protected final TextStyle style() {
        return TextStyle.of(environment.coloured());
    }

    protected final LocalTimes times() {
        return LocalTimes.here();
    }

    protected final boolean isTable() {
        return format == OutputFormat.TABLE;
    }

    protected final ContextFile contexts() {
        return new ContextFile(environment.folder());
    }

    protected final TokenFile tokens() {
        return new TokenFile(environment.folder());
    }

    /** Server and tenant as options, variables and the current context state them. */
    protected final ServerContext target() {
        return new TargetChoice(context, server, tenant).resolve(environment.variables(), contexts());
    }

    protected final @Nullable String serverOption() {
        return server;
    }

    protected final @Nullable String tenantOption() {
        return tenant;
    }

    protected final WebClient web() {
        WebClient known = web;
        if (known == null) {
            known = new WebClient(new WaitIndicator(err(), environment.terminal()), err(), debug);
            web = known;
        }
        return known;
    }

    /** The service, with a token of the tenant. */
    protected final ServiceConnection service() {
        ServiceConnection known = connection;
        if (known == null) {
            ServerContext target = target();
            warnIfUnencrypted(target);
            String given = environment.variables().getOrDefault(TargetChoice.TOKEN_VARIABLE, "");
            BearerToken token = given.isBlank()
                    ? new BearerToken.Saved(tokens(), web(), target.server(), target.tenant(), signIn(target))
                    : given(given.strip(), target.tenant());
            known = new ServiceConnection(web(), target.server(), target.tenant(), token);
            connection = known;
        }
        return known;
    }

    /** The command that signs in to a target; with options unless the target is the current context. */
    protected final String signIn(ServerContext target) {
        boolean current = contexts()
                .read()
                .currentContext()
                .filter(context -> context.server().equals(target.server())
                        && context.tenant().equals(target.tenant()))
                .isPresent();
        return called() + " login" + (current ? "" : " --server " + target.server() + " --tenant " + target.tenant());
    }

    /** The name by which the launcher was called, such as {@code ./qm}, for the next command in a message. */
    protected static String called() {
        return System.getProperty("qm.command", "qm");
    }

    /**
     * The token of the variable. With an option that names a server it has to be a token of the chosen tenant.
     * Otherwise it could reach a server for which it was not meant.
     */
    private BearerToken given(String token, String chosenTenant) {
        if (!BearerToken.FORM.matcher(token).matches()) {
            throw CommandFailure.usage(
                    TargetChoice.TOKEN_VARIABLE + " is not an access token: it has characters that " + "no token has");
        }
        boolean named = context != null || server != null;
        String issuer = TokenClaims.of(token).path("iss").asText("");
        if (named && !issuer.endsWith("/realms/" + chosenTenant)) {
            throw CommandFailure.usage("the token in " + TargetChoice.TOKEN_VARIABLE + " is not one of tenant "
                    + chosenTenant + ". Unset it, or leave out --context and --server");
        }
        return new BearerToken.Given(token);
    }

    /** Warns once per command if a network between this machine and the server can be read by others. */
    protected final void warnIfUnencrypted(ServerContext target) {
        if (target.isUnencrypted()) {
            warnOfPlainText(target.server().toString());
        }
    }

    /** Warns that others can read what is sent to an address. */
    protected final void warnOfPlainText(String address) {
        err().println("qm: warning: " + TextStyle.printable(address)
                + " is not encrypted; others on the network can read your token. Use https");
        err().flush();
    }

    /** Prints a document in the wanted format, or the given names, or the given text for people. */
    protected final void print(JsonNode document, List<String> names, Runnable forPeople) {
        switch (format) {
            case TABLE -> forPeople.run();
            case JSON -> out().println(DocumentWriter.json(document));
            case YAML -> out().println(DocumentWriter.yaml(document));
            case NAME -> names.forEach(name -> out().println(TextStyle.printable(name)));
        }
        out().flush();
    }

    /** Prints a list as a document with {@code items}. */
    protected final void printItems(List<JsonNode> items, String nameField, Runnable forPeople) {
        ObjectNode document = DocumentWriter.JSON.createObjectNode();
        document.putArray("items").addAll(items);
        print(
                document,
                items.stream().map(item -> item.path(nameField).asText()).toList(),
                forPeople);
    }

    protected final void printTable(TextTable table) {
        table.lines().forEach(out()::println);
    }

    /** A remark for a person; not part of the answer, and not printed for programs. */
    protected final void remark(String text) {
        if (isTable()) {
            err().println(TextStyle.printable(text));
            err().flush();
        }
    }
}
