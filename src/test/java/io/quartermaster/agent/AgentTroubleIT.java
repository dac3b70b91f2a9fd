package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** One attempt that cannot be looked at costs neither the node nor the others' work. */
class AgentTroubleIT extends RealAgent {

    /** As after a loss of power: the machine's file system kept the names of files that were not forced to disk, and not their content. */
    @Test
    void anAttemptWhoseFilesLostTheirContentIsLostAndTheNextOnesStart() throws Exception {
        FakeService service = service(LONG_LEASE);
        AttemptOrder cut = Orders.shell("echo started");
        try (StateFolder crashed = StateFolder.open(state())) {
            Launcher launcher = Launcher.forMachine(Isolation.NONE, new Confinement.None());
            AttemptFolder attempt = new AttemptFolder(Files.createDirectory(
                    crashed.attempts().resolve(cut.attemptId().toString())));
            new WorkEnvironment(crashed, launcher, false, true, 1_024, Optional.empty(), 20)
                    .describe(cut, launcher.forWork(cut, folder, folder))
                    .write(attempt.record());
            attempt.markStarted(1);
            for (String name : new String[] {"lease", "work", "stop", "pause", "paused"}) {
                Files.createFile(attempt.path().resolve(name));
            }
        }
        AttemptOrder next = Orders.shell("echo done");
        service.order(cut);
        service.order(next);

        agent(service);

        assertThat(awaitEnd(service, next).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(awaitEnd(service, cut).outcome()).isEqualTo(Outcome.LOST);
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
