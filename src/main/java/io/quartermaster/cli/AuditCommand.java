package io.quartermaster.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.cli.demo.DemoWorld;
import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Secrets;
import io.quartermaster.launch.ExitCodes;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code qm audit}: has the running service audit its stored usage, and prints the result. */
@Command(
        name = "audit",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Audits the stored data of the running service.",
            "It checks the equations of usage, gaps and overlaps, the hash chain, closed hours computed again, and"
                    + " allocations against the events that meter them. It also checks that no attempt is metered past"
                    + " its stop deadline or its reported end, and the hash chains of audit entries."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the audit found no violation",
            "1:the audit found violations, which it prints, or it failed",
            "2:an option is wrong",
            "3:no service runs here"
        })
final class AuditCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private DataFolderOption dataFolder;

    @Option(names = "--tenant", paramLabel = "TENANT", description = "Only this tenant. Default: all tenants")
    private @Nullable String tenant;

    @Option(
            names = "--from",
            paramLabel = "TIME",
            description = "Only hours that end after TIME, such as 2026-11-01T00:00:00Z. Default: from the beginning")
    private @Nullable String from;

    @Option(
            names = "--to",
            paramLabel = "TIME",
            description = "Only hours that end by TIME. Default: now, including the open hour")
    private @Nullable String to;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    AuditCommand() {}

    @Override
    public Integer call() {
        DataFolder folder = dataFolder.folder();
        Optional<RunFile> running = RunFile.ofRunning(folder);
        if (running.isEmpty()) {
            spec.commandLine()
                    .getErr()
                    .println("qm: Quartermaster does not run on " + folder.path() + ". Start it with "
                            + Installation.command() + " up.");
            return ExitCodes.NOT_RUNNING;
        }
        ApiClient operator = ApiClient.ofClient(
                running.get().url(),
                running.get().keycloakUrl(),
                "operator",
                DemoWorld.CLI_CLIENT,
                Secrets.in(folder).password(DemoWorld.CLI_SECRET));
        try {
            JsonNode audit = operator.runAudit(request());
            print(audit, spec.commandLine().getOut());
            return audit.path("holds").asBoolean(false) ? ExitCodes.OK : ExitCodes.INTERNAL;
        } catch (ApiFailure e) {
            spec.commandLine().getErr().println("qm: " + e.getMessage());
            return e.isBadInput() ? ExitCodes.WRONG_OPTION : ExitCodes.INTERNAL;
        }
    }

    private Map<String, String> request() {
        Map<String, String> request = new LinkedHashMap<>();
        if (tenant != null) {
            request.put("tenant", tenant);
        }
        if (from != null) {
            request.put("from", from);
        }
        if (to != null) {
            request.put("to", to);
        }
        return request;
    }

    private static void print(JsonNode audit, PrintWriter out) {
        out.printf(
                "%-16s %-16s %14s %14s %14s %14s %14s%n",
                "GPU-hours of", "pool", "stated", "= reserved", "+ idle", "held", "on-demand");
        for (JsonNode books : audit.path("tenants")) {
            for (JsonNode pool : books.path("pools")) {
                out.printf(
                        "%-16s %-16s %14s %14s %14s %14s %14s%n",
                        books.path("tenant").asText(),
                        pool.path("pool").asText(),
                        hours(pool, "stated"),
                        hours(pool, "reserved"),
                        hours(pool, "reservedIdle"),
                        hours(pool, "held"),
                        hours(pool, "onDemand"));
            }
            out.printf(
                    "%-16s %d closed hours, %d segments, %d events%s%n",
                    books.path("tenant").asText(),
                    books.path("closedHours").asInt(),
                    books.path("segments").asLong(),
                    books.path("events").asLong(),
                    books.hasNonNull("asOf")
                            ? ", open up to " + books.path("asOf").asText()
                            : "");
        }
        audit.path("violations").forEach(violation -> print("VIOLATION", violation, out));
        audit.path("warnings").forEach(warning -> print("WARNING", warning, out));
        out.println(
                audit.path("holds").asBoolean(false) ? "The audit found no violation." : "The audit found VIOLATIONS.");
        out.flush();
    }

    private static void print(String kind, JsonNode finding, PrintWriter out) {
        out.printf(
                "%s %s %s: %s%s: expected %s, found %s%n",
                kind,
                finding.path("tenant").asText(""),
                finding.path("rule").asText(),
                finding.path("subject").asText(),
                finding.hasNonNull("at") ? " at " + finding.path("at").asText() : "",
                finding.path("expected").asText("-"),
                finding.path("found").asText("-"));
    }

    private static String hours(JsonNode pool, String amount) {
        return pool.path(amount).path("gpuHours").asText("-");
    }
}
