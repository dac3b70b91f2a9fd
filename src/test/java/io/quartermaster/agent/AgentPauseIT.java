package io.quartermaster.agent;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.quartermaster.agent.AgentConfig.Devices;
import io.quartermaster.agent.AgentConfig.PauseSettings;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** All processes of paused work stop, and later continue at the same point. */
@OwnProcesses
class AgentPauseIT extends RealAgent {
    /** Counts in the shell, with a child that counts too. Neither saves its count, so a restart would begin at zero. */
    private static final String COUNT = """
            echo $$ >> pid-of-work; echo $$ >> %1$s/pids
            (setsid sh -c 'n=0; while :; do n=$((n+1)); echo $n > %1$s/child; sleep 0.02; done') &
            n=0; while :; do n=$((n+1)); echo $n > %1$s/count.tmp; mv %1$s/count.tmp %1$s/count; sleep 0.02; done
            """;

    /** Half of it is for the suspension, which runs several programs one after the other, also on a busy machine. */
    private static final long LONG_GRACE = 120_000;

    private AttemptOrder counting() throws IOException {
        return Orders.shell(
                COUNT.formatted(folder),
                it -> it.abortCallback = Orders.script("echo called >> " + folder + "/callback"));
    }

    private long count(String file) throws IOException {
        String text = Files.readString(folder.resolve(file)).strip();
        return text.isEmpty() ? 0 : Long.parseLong(text);
    }

    private void awaitCounting(String file, long beyond) {
        await().atMost(PATIENCE)
                .pollInterval(10, MILLISECONDS)
                .until(() -> Files.exists(folder.resolve(file)) && count(file) > beyond);
    }

    private static void awaitPaused(FakeService service, UUID attempt) {
        await().atMost(PATIENCE).pollInterval(10, MILLISECONDS).until(() -> {
            assertThat(service.end(attempt))
                    .as(() -> "it ended instead: " + service.log(attempt))
                    .isEmpty();
            return service.state(attempt)
                    .filter(AttemptState.Paused.class::isInstance)
                    .isPresent();
        });
    }

    private AttemptOrder runningCount(FakeService service) throws IOException {
        AttemptOrder order = counting();
        service.order(order);
        awaitRunning(service, order);
        awaitCounting("count", 2);
        awaitCounting("child", 2);
        return order;
    }

    private void pause(FakeService service, AttemptOrder order) {
        service.order(Orders.paused(order, LONG_GRACE));
        awaitPaused(service, order.attemptId());
        service.keepPaused(order.attemptId());
    }

    @Test
    void itStandsStillAndGoesOnFromTheSameValueInTheSameProcess() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = runningCount(service);

        pause(service, order);
        long stoodAt = count("count");
        long childStoodAt = count("child");
        int seen = service.requests().size();
        service.changed();
        await().atMost(PATIENCE).until(() -> service.requests().size() > seen);
        MILLISECONDS.sleep(300);
        assertThat(count("count")).isEqualTo(stoodAt);
        assertThat(count("child")).isEqualTo(childStoodAt);

        AttemptOrder next = Orders.resuming(order, it -> {});
        service.resume(next);
        awaitRunning(service, next);
        awaitCounting("count", stoodAt);
        awaitCounting("child", childStoodAt);

        assertThat(count("count")).isLessThan(stoodAt + 200);
        assertThat(Files.readAllLines(folder.resolve("pids"))).hasSize(1);
        assertThat(folder.resolve("callback")).doesNotExist();
        assertThat(service.log(next.attemptId())).contains("paused", "continues as attempt " + next.attemptId());

        service.order(Orders.stopped(next, StopReason.CANCELLED, 500));
        assertThat(awaitEnd(service, next).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(runs(pid(folder.resolve("pids")))).isFalse();
    }

    @Test
    void itIsPausedAgainUnderItsNewIdAndTheOldOnesNeverStart() throws Exception {
        FakeService service = service(LONG_LEASE);
        Agent agent = agent(service);
        AttemptOrder first = runningCount(service);
        pause(service, first);
        AttemptOrder second = Orders.resuming(first, it -> {});
        service.resume(second);
        awaitRunning(service, second);
        pause(service, second);
        agent.close();
        agent(service);
        await().atMost(PATIENCE).until(() -> instances(service) == 2);
        long stoodAt = count("count");
        AttemptOrder third = Orders.resuming(second, it -> it.attemptNumber = 3);
        service.resume(third);
        awaitRunning(service, third);
        awaitCounting("count", stoodAt);
        assertThat(Files.readAllLines(folder.resolve("pids"))).hasSize(1);
        assertThat(attemptFolders()).containsExactly(first.attemptId());
        service.order(Orders.stopped(third, StopReason.CANCELLED, 500));
        awaitEnd(service, third);
    }

    @Test
    void aKilledAgentsPausedWorkIsTakenOverByTheNextAgent() throws Exception {
        FakeService service = service(LONG_LEASE);
        Process agent = fork(service);
        AttemptOrder order = runningCount(service);
        pause(service, order);
        agent.destroyForcibly().waitFor();
        long stoodAt = count("count");
        AttemptOrder next = Orders.resuming(order, it -> {});
        service.resume(next);
        agent(service);
        awaitRunning(service, next);
        awaitCounting("count", stoodAt);
        assertThat(Files.readAllLines(folder.resolve("pids"))).hasSize(1);
        service.order(Orders.stopped(next, StopReason.CANCELLED, 500));
        awaitEnd(service, next);
    }

    @Test
    void pausedWorkThatIsLetGoRunsNoMoreAndLeavesNoProcess() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("trap '' TERM\n" + COUNT.formatted(folder), it -> {});
        service.order(order);
        awaitRunning(service, order);
        awaitCounting("count", 2);
        pause(service, order);
        long counted = count("count");
        service.letGo(order.attemptId());
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
        assertThat(runs(pid(folder.resolve("pids")))).isFalse();
        assertThat(count("count")).isEqualTo(counted);
    }

    @Test
    void pausedWorkEndsWithTheLease() throws Exception {
        FakeService service = service(2_000);
        agent(service);
        AttemptOrder order = runningCount(service);
        pause(service, order);
        long pid = pid(folder.resolve("pids"));
        service.away(true);
        await().atMost(PATIENCE).until(() -> !runs(pid));
    }

    @Test
    void pausedWorkThatIsKilledIsReportedAsOver() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = runningCount(service);
        pause(service, order);
        ProcessHandle.of(pid(folder.resolve("pids"))).orElseThrow().destroyForcibly();
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
        AttemptOrder next = Orders.resuming(order, it -> {});
        service.resume(next);
        awaitEnd(service, next);
        assertThat(service.log(next.attemptId())).contains("started anew");
    }

    @Test
    void whereNothingIsKeptPausedItIsPreemptedWithItsCallback() throws Exception {
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(config(service, Isolation.NONE, true, false, new PauseSettings(0, Optional.empty()))));
        AttemptOrder order = runningCount(service);
        service.order(Orders.paused(order, 3_000));
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.PREEMPTED);
        assertThat(folder.resolve("callback")).hasContent("called");
    }

    /**
     * A fake cuda-checkpoint that logs its arguments, and runs {@code whenLocking} on the action lock. The shell that
     * counts is the process that "uses CUDA".
     */
    private Path cudaCheckpoint(String whenLocking) throws IOException {
        Path program = folder.resolve("cuda-checkpoint");
        Files.writeString(program, """
                #!/bin/sh
                case "$1" in
                --help) echo "--action lock | checkpoint | restore | unlock"; exit 0;;
                --get-restore-tid) [ "$3" = "$(head -1 %1$s/pids)" ] && echo 1 && exit 0; exit 1;;
                esac
                echo "$@" | sed "s/--pid $(head -1 %1$s/pids)/--pid WORK/" >> %1$s/calls
                [ "$2" = lock ] && { %2$s; }
                exit 0
                """.formatted(folder, whenLocking));
        Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
        return program;
    }

    private void agentWith(FakeService service, Path cudaCheckpoint) throws IOException {
        AgentConfig simulated =
                config(service, Isolation.NONE, true, false, new PauseSettings(1, Optional.of(cudaCheckpoint)));
        open.add(Agent.start(new AgentConfig(
                simulated.server(),
                simulated.node(),
                simulated.credentials(),
                simulated.stateFolder(),
                new Devices.Real(),
                simulated.isolation(),
                true,
                false,
                simulated.pauseSettings(),
                simulated.work(),
                simulated.pace(),
                simulated.log())));
    }

    @Test
    void deviceMemoryIsMovedOffBeforeItStandsStillAndBackAfter() throws Exception {
        FakeService service = service(LONG_LEASE);
        agentWith(service, cudaCheckpoint("true"));
        AttemptOrder order = runningCount(service);
        pause(service, order);
        long stoodAt = count("count");
        AttemptOrder next = Orders.resuming(order, it -> {});
        service.resume(next);
        awaitRunning(service, next);
        awaitCounting("count", stoodAt);
        List<String> calls = Files.readAllLines(folder.resolve("calls"));
        assertThat(calls.getFirst()).matches("--action lock --pid WORK --timeout \\d+");
        assertThat(calls.subList(1, calls.size()))
                .containsExactly(
                        "--action checkpoint --pid WORK", "--action restore --pid WORK", "--action unlock --pid WORK");
        service.order(Orders.stopped(next, StopReason.CANCELLED, 500));
        awaitEnd(service, next);
    }

    @Test
    void whatCannotBeMovedOffIsUnlockedAndPreempted() throws Exception {
        FakeService service = service(LONG_LEASE);
        agentWith(service, cudaCheckpoint("exit 1"));
        AttemptOrder order = runningCount(service);
        service.order(Orders.paused(order, 3_000));
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.PREEMPTED);
        assertThat(folder.resolve("callback")).hasContent("called");
        assertThat(Files.readAllLines(folder.resolve("calls"))).last().isEqualTo("--action unlock --pid WORK");
        assertThat(service.log(order.attemptId())).contains("cannot be paused: cannot lock");
    }

    @Test
    void whatTakesLongerThanItsPartOfTheGraceIsPreemptedInTime() throws Exception {
        FakeService service = service(LONG_LEASE);
        agentWith(service, cudaCheckpoint("sleep 60"));
        AttemptOrder order = runningCount(service);
        long asked = System.nanoTime();
        service.order(Orders.paused(order, 6_000));
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.PREEMPTED);
        assertThat((System.nanoTime() - asked) / 1_000_000).isLessThan(11_000);
        assertThat(folder.resolve("callback")).hasContent("called");
    }

    @Test
    void whatIsToEndWhileItIsBeingPausedEndsInTime() throws Exception {
        FakeService service = service(LONG_LEASE);
        agentWith(service, cudaCheckpoint("sleep 60"));
        AttemptOrder order = runningCount(service);
        service.order(Orders.paused(order, 60_000));
        await().atMost(PATIENCE).until(() -> Files.exists(folder.resolve("calls")));
        long asked = System.nanoTime();
        service.order(Orders.stopped(order, StopReason.CANCELLED, 2_000));
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat((System.nanoTime() - asked) / 1_000_000).isLessThan(8_000);
        assertThat(folder.resolve("callback")).hasContent("called");
        assertThat(Files.readAllLines(folder.resolve("calls"))).last().isEqualTo("--action unlock --pid WORK");
    }

    @Test
    void pausedTimeDoesNotCountAndTheNextAttemptHasItsOwn() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell(COUNT.formatted(folder), it -> it.maxRuntimeMillis = 2_000L);
        service.order(order);
        awaitRunning(service, order);
        awaitCounting("count", 2);
        pause(service, order);
        MILLISECONDS.sleep(2_500);
        assertThat(service.state(order.attemptId())).containsInstanceOf(AttemptState.Paused.class);
        AttemptOrder next = Orders.resuming(order, it -> it.maxRuntimeMillis = 1_000L);
        service.resume(next);
        awaitRunning(service, next);
        assertThat(awaitEnd(service, next).outcome()).isEqualTo(Outcome.TIMED_OUT);
    }
}
