package io.quartermaster.cli.demo;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.cli.demo.DemoStage.Actor;
import java.io.PrintWriter;
import java.math.BigInteger;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The worked example of ClearML's article on resource policies (June 2024) with a second tenant. Each scene states its
 * end condition, so the story either ends as planned or reports the scene that failed. Work that is lost because its
 * node was silent for too long frees GPUs without a preemption. From then on the story only requires that every job
 * runs in the end and that the bill is correct.
 */
public final class DemoStory {

    private final PrintWriter out;
    private final DemoStage stage;
    private final ApiClient operator;
    private final ApiClient rnd;
    private final ApiClient devops;
    private final ApiClient globex;
    private final int steps;

    /** @param steps the length of an R&D job, in steps of half a second */
    public DemoStory(
            PrintWriter out,
            DemoStage stage,
            ApiClient operator,
            ApiClient rnd,
            ApiClient devops,
            ApiClient globex,
            int steps) {
        this.out = out;
        this.stage = stage;
        this.operator = operator;
        this.rnd = rnd;
        this.devops = devops;
        this.globex = globex;
        this.steps = steps;
    }

    /** Plays the story; throws when a scene fails. */
    public void run() {
        cancelEarlierWork();
        Instant begun = Instant.now().truncatedTo(ChronoUnit.MILLIS);
        stage.printScene(
                "acme reserves all 10 GPUs of pool demo; its groups /rnd and /devops reserve 5 each and may use 9.");
        stage.printLine("R&D submits five jobs of 3 GPUs: three run, two wait for the group's limit.");
        List<Actor> jobs = new ArrayList<>();
        for (int i = 1; i <= 5; i++) {
            jobs.add(stage.submit(rnd, DemoWorld.OWNER, DemoWorld.queue("rnd", 3), "r-" + i, steps));
        }
        stage.awaitCondition(
                "r-1, r-2 and r-3 run, r-4 and r-5 wait for LIMIT",
                () -> jobs.subList(0, 3).stream().allMatch(Actor::hasRun)
                        && jobs.subList(3, 5).stream().allMatch(job -> job.hasWaitedFor("LIMIT")));

        stage.printScene("globex reserves nothing and may use 2: it borrows the GPU that acme leaves idle.");
        Actor borrower = stage.submit(globex, DemoWorld.BORROWER, DemoWorld.queue("rnd", 1), "g-1", steps);
        stage.awaitCondition("g-1 runs", borrower::hasRun);

        stage.printScene(
                "DevOps requests 3 GPUs of its reserved 5: the leader preempts the job that R&D started last.");
        Actor first = stage.submit(devops, DemoWorld.OWNER, DemoWorld.queue("devops", 3), "d-1", steps);
        stage.awaitCondition(
                "d-1 runs, r-3 waits again",
                () -> first.hasRun() && (jobs.get(2).wasPreempted() || isDisturbed(jobs)));

        stage.printScene("DevOps requests 2 more, still within its 5, but no GPU is free: the leader preempts one "
                + "more job of R&D.");
        Actor second = stage.submit(devops, DemoWorld.OWNER, DemoWorld.queue("devops", 2), "d-2", steps);
        stage.awaitCondition(
                "d-2 runs, r-2 waits again",
                () -> second.hasRun() && (jobs.get(1).wasPreempted() || isDisturbed(jobs)));
        require(
                isDisturbed(jobs) || jobs.get(0).preemptions() == 0 && borrower.preemptions() == 0,
                "r-1 and g-1 were never preempted");

        stage.printScene("As jobs end, preempted jobs go first and resume from their checkpoints.");
        List<Actor> all = new ArrayList<>(jobs);
        all.addAll(List.of(borrower, first, second));
        stage.awaitCondition("all jobs have succeeded", () -> all.stream()
                .allMatch(job -> job.state().equals("succeeded")));
        for (Actor victim : jobs.stream()
                .filter(job -> job.preemptions() > 0 && job.attempts() > 1 && !job.wasLost())
                .toList()) {
            String log = victim.log(victim.attempts());
            stage.printLine(victim.name() + ": " + log.lines().findFirst().orElse(""));
            require(
                    log.contains("attempt " + victim.attempts() + " begins at step ")
                            && !(victim.hadProgressToSave() && log.contains("begins at step 0 ")),
                    victim.name() + " resumed from its checkpoint");
        }
        printUsage(begun, Instant.now().truncatedTo(ChronoUnit.MILLIS));
    }

    /**
     * Whether a disturbance, such as a restart of the service, delayed the story. Work was lost, or a job that should
     * still run has ended and freed its GPUs. Then another job is preempted than the story names, or none.
     */
    private boolean isDisturbed(List<Actor> jobs) {
        return stage.hasLostWork()
                || jobs.stream()
                        .anyMatch(job -> job.preemptions() == 0 && job.state().equals("succeeded"));
    }

    /** Work of an earlier, interrupted run would block this one. */
    private void cancelEarlierWork() {
        List<DemoUser> users = List.of(
                new DemoUser(rnd, DemoWorld.OWNER, DemoWorld.RND_MEMBER),
                new DemoUser(devops, DemoWorld.OWNER, DemoWorld.DEVOPS_MEMBER),
                new DemoUser(globex, DemoWorld.BORROWER, DemoWorld.RND_MEMBER));
        users.forEach(DemoUser::cancelAll);
        for (DemoUser user : users) {
            for (int polls = 0; !user.liveWorkloads().isEmpty(); polls++) {
                require(polls < 240, "the work of an earlier demonstration has stopped");
                DemoStage.pause();
            }
        }
    }

    /** A user of the demonstration, with the client and the workloads of that user. */
    private record DemoUser(ApiClient client, String tenant, String user) {

        void cancelAll() {
            for (String workload : liveWorkloads()) {
                // A workload that has ended refuses the call, which is fine.
                client.post(path() + "/" + workload + "/cancel", Map.of());
            }
        }

        /** The ids of the workloads that have not ended. */
        List<String> liveWorkloads() {
            String all = path() + "?state=held,waiting,starting,running,stopping,paused&submittedBy="
                    + ApiClient.encode(user);
            List<String> live = new ArrayList<>();
            String next = "";
            do {
                JsonNode page =
                        client.require(client.get(next.isEmpty() ? all : all + "&pageToken=" + ApiClient.encode(next)));
                page.path("items")
                        .forEach(workload -> live.add(workload.path("id").asText()));
                next = page.path("nextPageToken").asText("");
            } while (!next.isEmpty());
            return live;
        }

        private String path() {
            return "/v1/tenants/" + tenant + "/workloads";
        }
    }

    private void printUsage(Instant from, Instant to) {
        awaitCounted(from, to);
        stage.printScene("The usage, from " + from + " to " + to + ":");
        String window = "from=" + ApiClient.encode(from.toString()) + "&to=" + ApiClient.encode(to.toString());
        for (String tenant : List.of(DemoWorld.OWNER, DemoWorld.BORROWER)) {
            JsonNode usage = operator.require(
                    operator.get("/v1/tenants/" + tenant + "/usage?granularity=total&groupBy=pool&" + window));
            for (JsonNode row : usage.path("rows")) {
                JsonNode totals = row.path("totals");
                out.printf(
                        "          %-7s %-8s reserved %s, reserved-idle %s, on-demand %s GPU-seconds%n",
                        tenant,
                        row.path("pool").asText(),
                        seconds(totals.path("reserved")),
                        seconds(totals.path("reservedIdle")),
                        seconds(totals.path("onDemand")));
            }
        }
        JsonNode groups = operator.require(
                operator.get("/v1/tenants/" + DemoWorld.OWNER + "/usage?granularity=total&groupBy=group&" + window));
        for (JsonNode row : groups.path("rows")) {
            if (row.hasNonNull("group")) {
                out.printf(
                        "          %-7s %-8s within %s, over-quota %s GPU-seconds%n",
                        DemoWorld.OWNER,
                        row.path("group").asText(),
                        seconds(row.path("totals").path("within")),
                        seconds(row.path("totals").path("overQuota")));
            }
        }
        JsonNode audit = operator.runAudit(Map.of());
        boolean holds =
                audit.path("violations").isEmpty() && !audit.path("violations").isMissingNode();
        out.printf("          the equations of the ledger hold: %s%n", holds ? "yes, exactly" : "NO: " + audit);
        out.flush();
        require(holds, "the equations of the ledger hold");
    }

    /** Usage is counted up to the leader's last cycle, which may be before the end of the window. */
    private void awaitCounted(Instant from, Instant to) {
        String window = "from=" + ApiClient.encode(from.toString()) + "&to=" + ApiClient.encode(to.toString());
        for (int polls = 0; ; polls++) {
            String asOf = operator.require(operator.get(
                            "/v1/tenants/" + DemoWorld.OWNER + "/usage?granularity=total&groupBy=pool&" + window))
                    .path("asOf")
                    .asText();
            if (!Instant.parse(asOf).isBefore(to)) {
                return;
            }
            require(polls < 120, "usage is counted up to " + to + ", not only up to " + asOf);
            DemoStage.pause();
        }
    }

    private static String seconds(JsonNode amount) {
        BigInteger milliMillis = new BigInteger(amount.path("gpuMilliMillis").asText("0"));
        return String.format(Locale.ROOT, "%.1f", milliMillis.doubleValue() / 1e6);
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new ApiFailure("The demonstration failed; expected: " + what);
        }
    }
}
