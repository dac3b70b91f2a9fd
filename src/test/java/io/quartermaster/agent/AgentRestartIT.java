package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.AttemptState.Running;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.agent.supervisor.AttemptFolder;
import io.quartermaster.agent.supervisor.Supervisor;
import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An attempt starts at most once, whatever process dies meanwhile. */
@OwnProcesses
class AgentRestartIT extends RealAgent {
    @Test
    void aKilledAgentsWorkGoesOnAndTheNextAgentReportsItsEnd() throws Exception {
        FakeService service = service(LONG_LEASE);
        Process first = fork(service);
        Path go = folder.resolve("go");
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell(
                "echo $$ >> %s; while [ ! -e %s ]; do sleep 0.05; done; echo done; exit 7".formatted(pids, go));
        service.order(order);
        awaitRunning(service, order);

        first.destroyForcibly().waitFor();
        assertThat(runs(pid(pids))).isTrue();
        agent(service);
        await().atMost(PATIENCE).until(() -> instances(service) == 2);
        Files.createFile(go);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.exitCode()).isEqualTo(7);
        assertThat(Files.readAllLines(pids)).hasSize(1);
        assertThat(service.log(order.attemptId())).contains("done");
    }

    @Test
    void whatEndedWhileNoAgentRanIsReportedByTheNext() throws Exception {
        FakeService service = service(LONG_LEASE);
        Agent first = agent(service);
        Path go = folder.resolve("go");
        AttemptOrder order = Orders.shell("while [ ! -e %s ]; do sleep 0.05; done; exit 4".formatted(go));
        service.order(order);
        awaitRunning(service, order);

        first.close();
        Files.createFile(go);
        Path exit = state().resolve("attempts").resolve(order.attemptId() + "/exit");
        await().atMost(PATIENCE).until(() -> Files.exists(exit));
        long ended = Files.getLastModifiedTime(exit).toMillis();
        service.away(true);
        agent(service);
        await().atMost(PATIENCE).until(() -> System.currentTimeMillis() - ended > 1_500);
        service.away(false);

        assertThat(awaitEnd(service, order).exitCode()).isEqualTo(4);
        Long age = service.report(order.attemptId()).orElseThrow().endedAgoMillis();
        assertThat(age).isBetween(1_400L, System.currentTimeMillis() - ended + 100);
    }

    @Test
    void whatWasRecordedAndNotStartedIsLostAndNeverStarted() throws Exception {
        FakeService service = service(LONG_LEASE);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts);
        try (StateFolder crashed = StateFolder.open(state())) {
            Launcher launcher = Launcher.forMachine(Isolation.NONE, new Confinement.None());
            Path attempt = Files.createDirectory(
                    crashed.attempts().resolve(order.attemptId().toString()));
            new WorkEnvironment(crashed, launcher, false, true, 1_024, Optional.empty(), 20)
                    .describe(order, launcher.forWork(order, folder, folder))
                    .write(new AttemptFolder(attempt).record());
        }
        service.order(order);

        agent(service);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.LOST);
        assertThat(end.startedAtEpochMillis()).isNull();
        assertThat(starts).doesNotExist();
    }

    @Test
    void aSupervisorThatComesTooLateStartsNothing() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts);
        service.order(order);
        awaitEnd(service, order);

        Path attempt = state().resolve("attempts").resolve(order.attemptId().toString());
        Path program = state().resolve("program");
        Process late;
        try (Stream<Path> jars = Files.list(program)) {
            Path jar = jars.findFirst().orElseThrow();
            late = new ProcessBuilder(java(), "-cp", jar.toString(), Supervisor.class.getName(), attempt.toString())
                    .start();
        }

        assertThat(late.waitFor()).isZero();
        assertThat(Files.readAllLines(starts)).hasSize(1);
    }

    @Test
    void neverStartsAgainWhatItHasForgotten() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts);
        service.order(order);
        awaitEnd(service, order);

        service.takenIn(order.attemptId());
        await().atMost(PATIENCE).until(() -> attemptFolders().isEmpty());
        service.order(order);
        await().atMost(PATIENCE).until(() -> service.end(order.attemptId())
                .filter(end -> end.outcome() == Outcome.LOST)
                .isPresent());

        assertThat(Files.readAllLines(starts)).containsExactly("started");
    }

    @Test
    void workWhoseSupervisorIsKilledIsKilledTooAndLost() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path pids = folder.resolve("pids");
        AttemptOrder order = Orders.shell("echo $$ > %s; sleep 600 & while :; do sleep 0.05; done".formatted(pids));
        service.order(order);
        awaitRunning(service, order);
        ProcessHandle work = ProcessHandle.of(pid(pids)).orElseThrow();

        work.parent().orElseThrow().destroyForcibly();

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.LOST);
        assertThat(runs(work.pid())).isFalse();
    }

    @Test
    void twoAgentsCannotShareAStateFolder() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);

        assertThatThrownBy(() -> agent(service))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("another agent is already using");
    }

    @Test
    void startsAnAttemptOnceHoweverOftenItIsOrdered() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path starts = folder.resolve("starts");
        AttemptOrder order = Orders.shell("echo started >> " + starts + "; exit 0");

        service.order(order);
        Ended end = awaitEnd(service, order);
        for (int repeat = 0; repeat < 5; repeat++) {
            int seen = service.requests().size();
            service.changed();
            await().atMost(PATIENCE).until(() -> service.requests().size() > seen);
        }

        assertThat(end.outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(end.exitCode()).isZero();
        assertThat(Files.readAllLines(starts)).containsExactly("started");
    }

    @Test
    void aReplyOlderThanOneCarriedOutIsRefusedWhileWorkRuns() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("while :; do sleep 0.05; done");
        service.order(order);
        awaitRunning(service, order);

        service.fallBack();
        int seen = service.requests().size();
        await().atMost(PATIENCE).until(() -> service.requests().size() > seen + 3);

        assertThat(service.state(order.attemptId())).containsInstanceOf(Running.class);
    }

    @Test
    void aForgottenAttemptLeavesItsCheckpointsAndNothingElse() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("echo 1 > $QM_CHECKPOINT_DIR/step; mkdir -p a/b; echo 2 > a/b/c");
        service.order(order);
        awaitEnd(service, order);

        service.takenIn(order.attemptId());

        await().atMost(PATIENCE)
                .until(() -> attemptFolders().isEmpty()
                        && isEmpty(state().resolve("trash"))
                        && isEmpty(state().resolve("tenants/acme/work")));
        assertThat(checkpoints().resolve("step")).hasContent("1");
    }

    @Test
    void aFolderThatHoldsSomethingElseIsNotTakenForTheAgents() throws Exception {
        FakeService service = service(LONG_LEASE);
        Files.createDirectories(state());
        Files.writeString(state().resolve("thesis.txt"), "draft");

        assertThatThrownBy(() -> agent(service))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("holds other files");
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.findAny().isEmpty();
        }
    }

    @Test
    void aNodeStaysInContactWhileKeycloakIsAwayAlsoWhenItsAgentIsRestarted() throws Exception {
        FakeService service = service(LONG_LEASE);
        Agent first = agent(service);
        AttemptOrder order = Orders.shell("sleep 60");
        service.order(order);
        awaitRunning(service, order);

        service.endIdentity();
        first.close();
        agent(service);
        AttemptOrder later = Orders.shell("true");
        service.order(later);

        assertThat(awaitEnd(service, later).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(service.state(order.attemptId())).containsInstanceOf(Running.class);
        assertThat(service.tokensGiven()).isEqualTo(1);
        assertThat(service.requests())
                .extracting(SyncRequest::stateId)
                .containsOnly(service.requests().getFirst().stateId());
    }

    @Test
    void aServiceThatGivesNoSessionsIsShownTheTokenOfKeycloak() throws Exception {
        FakeService service = service(LONG_LEASE);
        service.giveNoSessions();
        agent(service);
        AttemptOrder order = Orders.shell("true");

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
    }
}
