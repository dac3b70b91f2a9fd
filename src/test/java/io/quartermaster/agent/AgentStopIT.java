package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.quartermaster.agent.AgentConfig.Pace;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.AttemptState.Running;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.StopReason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Work ends when it must, and has time to save its state before. */
class AgentStopIT extends RealAgent {
    @Test
    void workEndsWithTheLeaseAlthoughTheAgentIsDead() throws Exception {
        FakeService service = service(2_000);
        Process agent = fork(service);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell("trap '' TERM; echo $$ > %s; while :; do sleep 0.05; done".formatted(pids));
        service.order(order);
        awaitRunning(service, order);
        long pid = pid(pids);

        agent.destroyForcibly().waitFor();

        await().atMost(PATIENCE).until(() -> !runs(pid));
        agent(service);
        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
    }

    @Test
    void workSavesItsStateBeforeALeaseThatIsNotRenewedEnds() throws Exception {
        FakeService service = service(3_000);
        agent(service);
        AttemptOrder order = Orders.shell(
                "while :; do sleep 0.05; done",
                it -> it.abortCallback = Orders.script("echo $QM_STOP_REASON > $QM_CHECKPOINT_DIR/saved"));
        service.order(order);
        awaitRunning(service, order);

        service.away(true);
        Path saved = checkpoints().resolve("saved");
        await().atMost(PATIENCE).until(() -> Files.exists(saved) && Files.size(saved) > 0);
        service.away(false);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
        assertThat(saved).hasContent("GIVEN_UP");
    }

    @Test
    void workOutlivesAServiceThatIsAwayForLessThanTheLease() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path go = folder.resolve("go");
        AttemptOrder order = Orders.shell("while [ ! -e %s ]; do sleep 0.05; done".formatted(go));
        service.order(order);
        awaitRunning(service, order);

        service.away(true);
        Files.createFile(go);
        Path exit = state().resolve("attempts").resolve(order.attemptId() + "/exit");
        await().atMost(PATIENCE).until(() -> Files.exists(exit));
        service.away(false);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
    }

    @Test
    void aPreemptedAttemptWritesACheckpointThatTheNextOneFinds() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder first = Orders.shell(
                "echo 1 > $QM_CHECKPOINT_DIR/step; while :; do sleep 0.05; done",
                it -> it.abortCallback = Orders.script("echo 42 > $QM_CHECKPOINT_DIR/step"));
        service.order(first);
        awaitRunning(service, first);
        await().atMost(PATIENCE).until(() -> Files.exists(checkpoints().resolve("step")));

        service.order(Orders.stopped(first, StopReason.PREEMPTED, 10_000));
        Ended end = awaitEnd(service, first);
        AttemptOrder second = Orders.next(first, "echo attempt $QM_ATTEMPT resumes at $(cat $QM_CHECKPOINT_DIR/step)");
        service.order(second);
        awaitEnd(service, second);

        assertThat(end.outcome()).isEqualTo(Outcome.PREEMPTED);
        assertThat(service.log(second.attemptId())).contains("attempt 2 resumes at 42");
        assertThat(service.report(first.attemptId()).orElseThrow().checkpoint())
                .satisfies(checkpoint -> assertThat(checkpoint).isNotNull());
    }

    @Test
    void aCallbackThatHangsIsCutAndTheWorkStillGetsTerm() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell(
                "trap 'echo got term; exit 0' TERM; while :; do sleep 0.05; done",
                it -> it.abortCallback = Orders.script("sleep 600"));
        service.order(order);
        awaitRunning(service, order);
        long asked = System.nanoTime();

        service.order(Orders.stopped(order, StopReason.CANCELLED, 1_500));

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(end.exitCode()).isZero();
        assertThat(end.detail()).contains("callback took too long");
        assertThat(service.log(order.attemptId())).contains("got term");
        assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(10));
    }

    @Test
    void workThatIsToEndAtOnceIsKilledWithoutItsCallback() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path called = folder.resolve("called");
        AttemptOrder order = Orders.shell(
                "trap 'echo got term' TERM; while :; do sleep 0.05; done",
                it -> it.abortCallback = Orders.script("echo called > " + called));
        service.order(order);
        awaitRunning(service, order);

        service.order(Orders.stopped(order, StopReason.CANCELLED, AttemptOrder.Desired.Stop.AT_ONCE_MILLIS));

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(called).doesNotExist();
    }

    @Test
    void workThatIsStoppingCanBeKilledAtOnce() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("trap 'echo got term' TERM; while :; do sleep 0.05; done");
        service.order(order);
        awaitRunning(service, order);
        service.order(Orders.stopped(order, StopReason.PREEMPTED, 3_600_000));
        await().atMost(PATIENCE).until(() -> service.log(order.attemptId()).contains("got term"));

        service.order(Orders.stopped(order, StopReason.PREEMPTED, AttemptOrder.Desired.Stop.AT_ONCE_MILLIS));

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.PREEMPTED);
    }

    @Test
    void workThatIgnoresTermIsKilledWithEverythingItStarted() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell(
                "trap '' TERM; setsid sh -c 'echo $$ >> %1$s; exec sleep 600' & echo $$ >> %1$s; while :; do sleep 0.05; done"
                        .formatted(pids));
        service.order(order);
        awaitRunning(service, order);
        await().atMost(PATIENCE)
                .until(() -> Files.exists(pids) && Files.readAllLines(pids).size() == 2);

        service.order(Orders.stopped(order, StopReason.PREEMPTED, 500));

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.PREEMPTED);
        assertThat(end.exitCode()).isEqualTo(137);
        for (String pid : Files.readAllLines(pids)) {
            assertThat(runs(Long.parseLong(pid))).isFalse();
        }
    }

    @Test
    void workIsStoppedWhenItIsNoLongerListed() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("while :; do sleep 0.05; done");
        service.order(order);
        awaitRunning(service, order);

        service.unlist(order.attemptId());

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
    }

    @Test
    void workIsStoppedAtItsMaximumRunTime() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("while :; do sleep 0.05; done", it -> it.maxRuntimeMillis = 300L);

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.TIMED_OUT);
    }

    @Test
    void anOrderToStopWhatWasNeverStartedIsReportedWithoutStartingIt() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.stopped(Orders.shell("echo started >> " + starts), StopReason.CANCELLED, 1_000);

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.CANCELLED);
        assertThat(starts).doesNotExist();
    }

    @Test
    void anAgentThatTakesItsWorkAlongEndsItBeforeItIsClosed() throws Exception {
        FakeService service = service(LONG_LEASE);
        Agent agent = Agent.start(config(service, Isolation.NONE, true));
        open.add(agent);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell("echo $$ > %s; while :; do sleep 0.05; done".formatted(pids));
        service.order(order);
        awaitRunning(service, order);

        agent.close();

        assertThat(runs(pid(pids))).isFalse();
        assertThat(service.end(order.attemptId())).isPresent();
    }

    @Test
    void oneCallThatFailsDoesNotCostTheLease() throws Exception {
        FakeService service = service(6_000);
        AgentConfig patient = config(service, Isolation.NONE, false);
        Pace pace = new Pace(20, 2_000, 100, 30_000, 60_000, 60_000, 64 * 1024);
        open.add(Agent.start(new AgentConfig(
                patient.server(),
                patient.node(),
                patient.credentials(),
                patient.stateFolder(),
                patient.devices(),
                patient.isolation(),
                patient.trustsTenants(),
                patient.stopsWorkOnClose(),
                patient.pauseSettings(),
                patient.work(),
                pace,
                patient.log())));
        AttemptOrder order = Orders.shell("sleep 60");
        service.order(order);
        awaitRunning(service, order);
        int before = service.requests().size();

        service.refuse(1, "");
        await().atMost(PATIENCE).until(() -> service.requests().size() > before + 2);

        assertThat(service.state(order.attemptId())).containsInstanceOf(Running.class);
        assertThat(service.problemsLeft()).isZero();
    }
}
