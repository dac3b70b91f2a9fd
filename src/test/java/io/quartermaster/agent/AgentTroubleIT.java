package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.supervisor.AttemptFolder;
import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** One unreadable attempt affects neither the node nor the work of other attempts. */
@OwnProcesses
class AgentTroubleIT extends RealAgent {

    /**
     * As after a loss of power: the file system kept the names of files that were not forced to disk, but not their
     * content.
     */
    @Test
    void anAttemptWhoseFilesLostTheirContentIsLostAndTheNextOnesStart() throws Exception {
        FakeService service = service(LONG_LEASE);
        AttemptOrder cut = Orders.shell("echo started");
        try (StateFolder crashed = StateFolder.open(state())) {
            AttemptFolder attempt = record(crashed, cut);
            attempt.markStarted(1);
            empty(attempt, "lease", "work", "stop", "pause", "paused");
        }
        AttemptOrder next = Orders.shell("echo done");
        service.order(cut);
        service.order(next);

        agent(service);

        assertThat(awaitEnd(service, next).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(awaitEnd(service, cut).outcome()).isEqualTo(Outcome.LOST);
    }

    @Test
    void anAttemptThatTookOverProcessesIsLostWhenItsFilesLostTheirContent() throws Exception {
        FakeService service = service(LONG_LEASE);
        AttemptOrder first = Orders.shell("echo started");
        AttemptOrder cut = Orders.resuming(first, order -> {});
        try (StateFolder crashed = StateFolder.open(state())) {
            AttemptFolder attempt = record(crashed, first);
            attempt.markStarted(1);
            attempt.requestResume(new AttemptFolder.Resume(
                    cut.attemptId(), List.of(first.attemptId()), List.of(1, 0), "", Optional.empty()));
            empty(attempt, "lease", "work", "stop", "pause", "paused", "resumed");
        }
        service.order(cut);

        agent(service);

        Ended end = awaitEnd(service, cut);
        assertThat(end.outcome()).isEqualTo(Outcome.LOST);
        assertThat(end.startedAtEpochMillis()).isNull();
    }

    /** A disk that loses forced data: it is known that the attempt ended, but its outcome is lost. */
    @Test
    void anAttemptWhoseEndCannotBeReadIsLost() throws Exception {
        FakeService service = service(LONG_LEASE);
        AttemptOrder empty = Orders.shell("echo started");
        AttemptOrder folder = Orders.shell("echo started");
        AttemptOrder never = Orders.shell("echo started");
        try (StateFolder damaged = StateFolder.open(state())) {
            AttemptFolder attempt = record(damaged, empty);
            attempt.markStarted(1);
            empty(attempt, "exit");
            attempt = record(damaged, folder);
            attempt.markStarted(1);
            Files.createDirectory(attempt.path().resolve("exit"));
            empty(record(damaged, never), "started");
        }
        service.order(empty);
        service.order(folder);
        service.order(never);

        agent(service);

        assertThat(awaitEnd(service, never).outcome()).isEqualTo(Outcome.LOST);
        for (AttemptOrder order : List.of(empty, folder)) {
            Ended end = awaitEnd(service, order);
            assertThat(end.outcome()).isEqualTo(Outcome.LOST);
            assertThat(end.detail()).contains("cannot be read");
        }
    }

    private AttemptFolder record(StateFolder where, AttemptOrder order) throws IOException {
        Launcher launcher = Launcher.forMachine(Isolation.NONE, new Confinement.None());
        AttemptFolder attempt = new AttemptFolder(
                Files.createDirectory(where.attempts().resolve(order.attemptId().toString())));
        new WorkEnvironment(where, launcher, false, true, 1_024, Optional.empty(), 20)
                .describe(order, launcher.forWork(order, folder, folder))
                .write(attempt.record());
        return attempt;
    }

    private static void empty(AttemptFolder attempt, String... names) throws IOException {
        for (String name : names) {
            Files.createFile(attempt.path().resolve(name));
        }
    }

    @Test
    void anEndThatCannotBeReadHoldsUpNoOtherAttempt() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path go = folder.resolve("go");
        AttemptOrder odd = Orders.shell("while [ ! -e %s ]; do sleep 0.05; done".formatted(go));
        service.order(odd);
        awaitRunning(service, odd);
        Files.createDirectory(
                state().resolve("attempts").resolve(odd.attemptId().toString()).resolve("exit"));

        AttemptOrder next = Orders.shell("echo done");
        service.order(next);

        assertThat(awaitEnd(service, next).outcome()).isEqualTo(Outcome.SUCCEEDED);
        Files.createFile(go);
    }

    @Test
    void workThatClosesItsFolderOfCheckpointsIsHeardOfAllTheSame() throws Exception {
        assumeThat(System.getProperty("user.name")).isNotEqualTo("root");
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("chmod 000 \"$QM_CHECKPOINT_DIR\"; echo closed; sleep 0.5");
        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
        if (Files.exists(checkpoints())) {
            Files.setPosixFilePermissions(checkpoints(), PosixFilePermissions.fromString("rwx------"));
        }
    }
}
