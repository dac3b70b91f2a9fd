package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.agent.supervisor.AttemptOutput;
import io.quartermaster.agent.supervisor.Commands;
import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The environment of work on a node, and the agent's reports about it. */
@OwnProcesses
class AgentIT extends RealAgent {
    @Test
    void reportsTheExitCodeOfWorkThatFails() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("exit 3");

        service.order(order);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.exitCode()).isEqualTo(3);
    }

    @Test
    void startsAreHeldBackWhileSupervisorsDieBeforeTheyBegin() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        Path program = onlyFile(state().resolve("program"));
        byte[] good = Files.readAllBytes(program);
        Files.write(program, new byte[0]);
        AttemptOrder first = Orders.shell("exit 0");
        service.order(first);
        assertThat(awaitEnd(service, first).outcome()).isEqualTo(Outcome.LOST);
        service.takenIn(first.attemptId());

        long ordered = System.nanoTime();
        AttemptOrder second = Orders.next(first, "exit 0");
        service.order(second);
        Files.write(program, good);

        assertThat(awaitEnd(service, second).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(System.nanoTime() - ordered).isGreaterThan(500_000_000L);
    }

    private static Path onlyFile(Path folder) throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.filter(file -> file.toString().endsWith(".jar"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void workSeesItsOwnEnvironmentAndNothingOfTheAgents() throws Exception {
        FakeService service = service(LONG_LEASE);
        fork(service); // with the secret in its environment
        AttemptOrder order = Orders.shell(
                "env | sort; pwd",
                it -> it.environment =
                        Map.of("MODEL", "a b", "QM_TENANT", "someone-else", "CUDA_VISIBLE_DEVICES", "7"));

        service.order(order);
        awaitEnd(service, order);

        Path work =
                state().resolve("tenants/acme/work").resolve(order.attemptId().toString());
        List<String> lines = service.log(order.attemptId()).lines().toList();
        assertThat(lines.stream().filter(line -> !line.startsWith("_=") && !line.startsWith("OLDPWD=")))
                .containsExactlyInAnyOrder(
                        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                        "CUDA_VISIBLE_DEVICES=0,1",
                        "HOME=" + work,
                        "LANG=C.UTF-8",
                        "MODEL=a b",
                        "PATH=" + Commands.PATH,
                        "PWD=" + work,
                        "QM_ATTEMPT=1",
                        "QM_ATTEMPT_ID=" + order.attemptId(),
                        "QM_CHECKPOINT_DIR=" + checkpoints(),
                        "QM_TENANT=acme",
                        "QM_WORKLOAD=" + order.workloadId(),
                        "TMPDIR=" + work,
                        work.toString());
    }

    @Test
    void outputIsKeptUpToItsLimitAndItsEndReported() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done; echo last");

        service.order(order);
        awaitEnd(service, order);

        Path attempt = state().resolve("attempts").resolve(order.attemptId().toString());
        assertThat(service.log(order.attemptId()))
                .endsWith("line 19999\nlast\n")
                .hasSize(16 * 1024);
        assertThat(AttemptOutput.totalBytes(attempt)).isEqualTo(208_895);
        try (Stream<Path> files = Files.list(attempt)) {
            assertThat(files.filter(file -> file.getFileName().toString().startsWith("output-"))
                            .mapToLong(file -> file.toFile().length())
                            .sum())
                    .isLessThanOrEqualTo(QUICK.outputLimitBytes());
        }
    }

    @Test
    void aCommandThatDoesNotExistFailsWithAReason() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("", it -> it.command = List.of("/no/such/program"));

        service.order(order);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.exitCode()).isEqualTo(127);
        assertThat(service.log(order.attemptId())).contains("/no/such/program");
    }

    @Test
    void aRefusedTokenIsReplaced() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        await().atMost(PATIENCE).until(() -> !service.requests().isEmpty());

        service.expireTokens();
        AttemptOrder order = Orders.shell("exit 0");
        service.order(order);

        awaitEnd(service, order);
        assertThat(service.tokensRefused()).isPositive();
    }

    @Test
    void tellsWhatTheNodeHas() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        await().atMost(PATIENCE).until(() -> !service.requests().isEmpty());

        SyncRequest request = service.requests().getFirst();
        assertThat(request.bootId()).isNotBlank();
        assertThat(request.waitMillis()).isZero();
        Inventory inventory = Objects.requireNonNull(request.inventory());
        assertThat(inventory.devices())
                .containsExactly(
                        new Inventory.Device(0, "SIM-n1-0", "H100", 81_920, true, false),
                        new Inventory.Device(1, "SIM-n1-1", "H100", 81_920, true, false));
        assertThat(inventory.isolation()).isEqualTo(Isolation.NONE);
        assertThat(inventory.trustsTenants()).isTrue();
        assertThat(inventory.simulated()).isTrue();
    }

    @Test
    void sendsItsInventoryOnceAndThenItsDigest() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        await().atMost(PATIENCE).until(() -> !service.requests().isEmpty());
        for (int i = 0; i < 3; i++) {
            int before = service.requests().size();
            service.changed();
            await().atMost(PATIENCE).until(() -> service.requests().size() > before);
        }

        assertThat(service.requests().getFirst().inventoryDigest()).isNull();
        assertThat(service.requests())
                .filteredOn(request -> request.sequence() > 1)
                .allSatisfy(request -> {
                    assertThat(request.inventory()).isNull();
                    assertThat(request.inventoryDigest()).isEqualTo(FakeService.DIGEST);
                });
    }

    @Test
    void sendsItsInventoryAgainWhenTheServiceDoesNotKnowItsDigest() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        await().atMost(PATIENCE)
                .until(() -> service.requests().stream().anyMatch(request -> request.inventory() == null));

        service.loseInventory();

        await().atMost(PATIENCE)
                .until(() -> service.requests().stream()
                                .filter(request -> request.inventory() != null)
                                .count()
                        > 1);
        assertThat(service.digestsRefused()).isEqualTo(1);
    }

    @Test
    void sendsItsInventoryEachTimeToAServiceThatIsOlderThanDigests() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        await().atMost(PATIENCE)
                .until(() -> service.requests().stream().anyMatch(request -> request.inventory() == null));

        service.knowNoDigests();

        await().atMost(PATIENCE).until(() -> service.digestsRefused() == 1);
        for (int i = 0; i < 3; i++) {
            int before = service.requests().size();
            service.changed();
            await().atMost(PATIENCE).until(() -> service.requests().size() > before);
        }
        assertThat(service.requests().getLast().inventory()).isNotNull();
        assertThat(service.digestsRefused()).isEqualTo(1);
    }

    @Test
    void workRunsAsTheUserOfItsTenantAndLeavesItsFoldersToNobodyElse() throws Exception {
        assumeTrue(Files.getOwner(folder).getName().equals("root"), "needs root");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(config(service, Isolation.OS_USER, false)));
        AttemptOrder order = Orders.shell(
                "id -un; grep NoNewPrivs /proc/self/status; echo saved > $QM_CHECKPOINT_DIR/step;"
                        + " ls %1$s/attempts || ls %1$s/tenants || echo closed".formatted(state()),
                it -> it.runUser = "nobody");

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(service.log(order.attemptId())).contains("nobody\n", "NoNewPrivs:\t1", "closed\n");
        assertThat(Files.getOwner(checkpoints().resolve("step")).getName()).isEqualTo("nobody");
        assertThat(Files.getPosixFilePermissions(checkpoints()))
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        assertThat(Files.getOwner(checkpoints().getParent()).getName()).isEqualTo("root");
    }

    @Test
    void workWithoutAUserOrAsRootIsRefusedWhereTenantsAreKeptApartByUser() throws Exception {
        assumeTrue(Files.getOwner(folder).getName().equals("root"), "needs root");
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(config(service, Isolation.OS_USER, false)));
        AttemptOrder nameless = Orders.shell("echo started >> " + folder.resolve("starts"));
        AttemptOrder asRoot = Orders.shell("echo started >> " + folder.resolve("starts"), it -> it.runUser = "root");
        AttemptOrder unknown = Orders.shell("true", it -> it.runUser = "no-such-user");

        service.order(nameless);
        service.order(asRoot);
        service.order(unknown);

        assertThat(awaitEnd(service, nameless).detail()).contains("has no user on this node");
        assertThat(awaitEnd(service, asRoot).detail()).contains("may not run as root");
        assertThat(awaitEnd(service, unknown).detail()).contains("there is no user no-such-user");
        assertThat(folder.resolve("starts")).doesNotExist();
    }

    @Test
    void aNodeThatKeepsTenantsApartByNothingRunsOneTenantOnly() throws Exception {
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(config(service, Isolation.NONE, false, false)));
        AttemptOrder first = Orders.shell("true");
        AttemptOrder other = Orders.shell("echo started >> " + folder.resolve("starts"), it -> it.tenant = "globex");
        service.order(first);
        awaitEnd(service, first);

        service.order(other);

        Ended end = awaitEnd(service, other);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.detail()).contains("holds files of another tenant");
        assertThat(folder.resolve("starts")).doesNotExist();
    }

    @Test
    void whatTheWorkPreloadsIsLoadedByNothingThatHasRightsOfTheAgent() throws Exception {
        assumeTrue(Files.getOwner(folder).getName().equals("root"), "needs root");
        Path library = preloaded();
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(config(service, Isolation.OS_USER, false)));
        AttemptOrder order = Orders.shell("sleep 60", it -> {
            it.runUser = "nobody";
            it.environment = Map.of("LD_PRELOAD", library.toString());
            it.abortCallback = List.of("/usr/bin/id");
        });

        service.order(order);
        awaitRunning(service, order);
        await().atMost(PATIENCE).until(() -> Files.exists(folder.resolve("loaded")));
        service.order(Orders.stopped(order, StopReason.CANCELLED, 5_000));
        awaitEnd(service, order);

        assertThat(Files.readAllLines(folder.resolve("loaded")))
                .as("who loaded it")
                .isNotEmpty()
                .anyMatch(line -> line.endsWith(" id"))
                .noneMatch(line -> line.startsWith("0 "));
    }

    /** A library that logs the user and the program of each process that loads it. */
    private Path preloaded() throws Exception {
        assumeTrue(Commands.find("gcc").isPresent(), "SKIPPED: without gcc there is no library to preload");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path log = folder.resolve("loaded");
        Path source = Files.writeString(
                folder.resolve("preloaded.c"), """
                #include <stdio.h>
                #include <sys/stat.h>
                #include <unistd.h>
                extern char *program_invocation_short_name;
                __attribute__((constructor)) static void loaded(void) {
                    FILE *log = fopen("%1$s", "a");
                    if (log) { chmod("%1$s", 0666); fprintf(log, "%%d %%s\\n", getuid(), program_invocation_short_name); fclose(log); }
                }
                """.formatted(log).replace("\\\\", "\\"));
        Path library = folder.resolve("preloaded.so");
        Commands.output(
                30_000, "gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library.toString(), source.toString());
        Files.createFile(log);
        Files.setPosixFilePermissions(log, PosixFilePermissions.fromString("rw-rw-rw-"));
        return library;
    }

    @Test
    void workGetsItsVariablesByteForByteAndNothingElseOfTheProgramsBeforeIt() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        String odd = "two\nlines 'single' \"double\" $HOME `id` \\ = \u00e4\ud83d\ude80\t.";
        AttemptOrder order = Orders.shell(
                "printf '%s|' \"$ODD\"; echo; grep -E '^SigBlk' /proc/self/status; ls /proc/self/fd | tr '\\n' ' ';"
                        + " cat /proc/$$/cmdline | tr '\\0' ' ' | head -c 10; pwd; ulimit -n",
                it -> it.environment = Map.of("ODD", odd));

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(service.log(order.attemptId()))
                .startsWith(odd + "|\n")
                .contains("SigBlk:\t0000000000000000\n", "0 1 2 3 /bin/sh -c");
    }

    @Test
    void workWhoseProgramIsMissingFailsAsAShellSays() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);
        AttemptOrder order = Orders.shell("", it -> it.command = List.of("no-such-program", "x"));

        service.order(order);

        Ended end = awaitEnd(service, order);
        assertThat(end.outcome()).isEqualTo(Outcome.FAILED);
        assertThat(end.exitCode()).isEqualTo(127);
        assertThat(service.log(order.attemptId())).contains("there is no program no-such-program");
    }

    @Test
    void theLockOfTheStateFolderIsTheAgentsAlone() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service);

        assertThat(Files.getPosixFilePermissions(state().resolve("agent.lock")))
                .isEqualTo(PosixFilePermissions.fromString("rw-------"));
    }

    @Test
    void workOfAnotherUserCannotReadTheFilesOfWhoRunsTheAgent() throws Exception {
        assumeTrue(Files.getOwner(folder).getName().equals("root"), "needs root");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx--x--x"));
        Path secret = secret();
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(
                config(service, new AgentConfig.WorkSettings(new Confinement.OtherUser(65_533), Duration.ofDays(1)))));
        AttemptOrder order =
                Orders.shell("id -u; cat %s || echo closed; echo saved > $QM_CHECKPOINT_DIR/step".formatted(secret));

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(service.log(order.attemptId()))
                .contains("65533\n", "closed\n")
                .doesNotContain("s3cret");
    }

    @Test
    void workFindsHiddenFoldersEmptyButForItsOwnAndCannotUncoverThem() throws Exception {
        assumeTrue(Launcher.canHideFolders(), "SKIPPED: this machine has no user namespaces, or no perl");
        Path secret = secret();
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(config(
                service,
                new AgentConfig.WorkSettings(new Confinement.HiddenFolders(List.of(folder)), Duration.ofDays(1)))));
        AttemptOrder order = Orders.shell(
                "cat %2$s || echo closed; ls %1$s; umount %1$s || unshare -Urm umount %1$s || echo covered; cat /proc/$PPID/environ;"
                                .formatted(folder, secret)
                        + " echo saved > $QM_CHECKPOINT_DIR/step; pwd; grep CapEff /proc/self/status",
                it -> it.environment = Map.of("ODD", "a\nb"));

        service.order(order);

        assertThat(awaitEnd(service, order).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(service.log(order.attemptId()))
                .contains("closed\n", "covered\n", "CapEff:\t0000000000000000")
                .contains("\nstate\n")
                .doesNotContain("s3cret", "secret\n");
        assertThat(checkpoints().resolve("step")).hasContent("saved");
    }

    @Test
    void whereNothingConfinesWorkOnlyTheProgramOfTheDemonstrationRuns() throws Exception {
        FakeService service = service(LONG_LEASE);
        open.add(Agent.start(config(
                service, new AgentConfig.WorkSettings(new Confinement.DemonstrationOnly(), Duration.ofDays(1)))));
        AttemptOrder demo = Orders.shell("", it -> {
            it.command = DemonstrationProgram.COMMAND;
            it.abortCallback = DemonstrationProgram.ABORT_CALLBACK;
            it.environment = DemonstrationProgram.environment(1);
        });
        AttemptOrder preloading = Orders.shell("", it -> {
            it.command = DemonstrationProgram.COMMAND;
            it.environment = Map.of("STEPS", "1", "ENV", "/tmp/x");
        });
        AttemptOrder other = Orders.shell("echo started >> " + folder.resolve("starts"));

        service.order(demo);
        service.order(preloading);
        service.order(other);

        assertThat(awaitEnd(service, demo).outcome()).isEqualTo(Outcome.SUCCEEDED);
        assertThat(awaitEnd(service, preloading).detail()).contains("runs the demonstration's own program only");
        assertThat(awaitEnd(service, other).detail()).contains("--unsafe-demo");
        assertThat(folder.resolve("starts")).doesNotExist();
    }

    private Path secret() throws IOException {
        Path secret = Files.writeString(folder.resolve("secret"), "s3cret");
        Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
        return secret;
    }

    @Test
    void checkpointsThatNobodyUsedForLongAreDeleted() throws Exception {
        FakeService service = service(LONG_LEASE);
        agent(service).close();
        Path old = Files.createDirectories(state().resolve("tenants/acme/checkpoints/old"));
        Path recent = Files.createDirectories(state().resolve("tenants/acme/checkpoints/recent"));
        Files.setLastModifiedTime(old, FileTime.from(Instant.now().minus(Duration.ofDays(91))));
        Files.setLastModifiedTime(recent, FileTime.from(Instant.now().minus(Duration.ofDays(89))));

        agent(service);

        await().atMost(PATIENCE).until(() -> !Files.exists(old));
        assertThat(recent).exists();
    }
}
