package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.commands.TokenClaims;
import io.quartermaster.client.connection.OutagePatience;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.ReadableDuration;
import io.quartermaster.client.output.TextTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code qm top}: the person's workloads and the share of the person's groups, again and again. */
@Command(
        name = "top",
        description = {
            "Shows your jobs that have not ended, and what your groups use of their share, and refreshes both.",
            "Without a terminal it shows them once. Ctrl-C ends it."
        },
        footer = {"%nExamples:%n", "  qm top", "  qm top --all --interval 10s"})
final class TopCommand extends PersonCommand {

    private static final String HOME_AND_CLEAR = "\u001B[H\u001B[2J";
    private static final int MOST = 100;

    @Option(
            names = {"-a", "--all"},
            description = "The jobs and groups of the whole tenant")
    private boolean all;

    @Option(
            names = "--interval",
            paramLabel = "TIME",
            defaultValue = "2s",
            description = "Time between two refreshes. Default: ${DEFAULT-VALUE}")
    private String interval = "2s";

    @Option(names = "--once", description = "Show them once")
    private boolean once;

    TopCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        Duration pause = Duration.parse(WorkOptions.duration("--interval", interval));
        if (pause.compareTo(Duration.ofSeconds(1)) < 0) {
            throw CommandFailure.usage("--interval is at least 1s");
        }
        ServiceConnection service = service();
        boolean live = environment().terminal() && isTable() && !once;
        OutagePatience patience = new OutagePatience(err(), live ? OutagePatience.DEFAULT : Duration.ZERO);
        while (true) {
            patience.run(() -> show(service));
            if (!live || out().checkError()) {
                return ExitStatus.OK;
            }
            try {
                Thread.sleep(pause);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return ExitStatus.OK;
            }
        }
    }

    private void show(ServiceConnection service) {
        JsonNode claims = TokenClaims.of(service.token().current());
        Map<String, String> query = all
                ? Map.of("state", ListCommand.OPEN)
                : Map.of("state", ListCommand.OPEN, "submittedBy", TokenClaims.username(claims));
        List<JsonNode> jobs = service.items(service.path("workloads"), query, MOST);
        GroupShare share = GroupShare.of(service);
        ObjectNode document = DocumentWriter.JSON.createObjectNode();
        document.putArray("workloads").addAll(jobs);
        var shares = document.putArray("shares");
        TextTable groups = new TextTable(style(), "GROUP", "POOL", "USES", "RESERVED", "LIMIT", "WAITING GPUS");
        Optional<List<String>> mine = all ? Optional.empty() : TokenClaims.groups(claims);
        for (String policy : share.policyNames()) {
            if (!QueuesCommand.isOf(mine, share.groupOf(policy))) {
                continue;
            }
            for (GroupShare.Line line : share.linesOf(policy)) {
                String limit = line.limit().map(GroupShare::text).orElse("");
                groups.add(
                        line.group(),
                        line.pool(),
                        GroupShare.text(line.used()),
                        GroupShare.text(line.reserved()),
                        limit,
                        GroupShare.text(line.queued()));
                ObjectNode one = shares.addObject()
                        .put("policy", line.policy())
                        .put("group", line.group())
                        .put("pool", line.pool())
                        .put("used", GroupShare.text(line.used()))
                        .put("reserved", GroupShare.text(line.reserved()))
                        .put("queued", GroupShare.text(line.queued()));
                if (!limit.isEmpty()) {
                    one.put("limit", limit);
                }
            }
        }
        List<String> ids = new ArrayList<>();
        jobs.forEach(job -> ids.add(job.path("id").asText()));
        print(document, ids, () -> {
            if (environment().terminal() && !once) {
                out().print(HOME_AND_CLEAR);
                out().println(style().faint("Tenant " + service.tenant() + ", every "
                        + ReadableDuration.format(Duration.parse(WorkOptions.duration("--interval", interval)))
                        + "; Ctrl-C ends"));
            }
            printTable(groups);
            out().println();
            if (jobs.isEmpty()) {
                out().println(all ? "No jobs." : "You have no jobs; --all shows those of the tenant.");
            } else {
                printTable(JobTable.of(jobs, style(), times()));
            }
        });
    }
}
