package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.client.ClientProgram;
import io.quartermaster.client.commands.ClientEnvironment;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The launcher {@code qm} alone, in a folder where a build would fail. */
class LauncherTest {

    private Path home = Path.of("");
    private final Path jdk = Path.of("jdk");

    @BeforeEach
    void launcherAlone(@TempDir Path folder) throws IOException {
        home = Files.createDirectories(folder.resolve("a folder"));
        Files.copy(Path.of("qm"), home.resolve("qm"));
        Files.createDirectories(home.resolve("src/main"));
        Files.createFile(home.resolve("pom.xml"));
    }

    private record Started(int exitCode, String output) {}

    private String run(String... arguments) throws IOException, InterruptedException {
        Started started = start(arguments);
        assertThat(started.exitCode()).as(started.output()).isZero();
        return started.output();
    }

    private Started start(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("sh", home.resolve("qm").toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", home.resolve(jdk).toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Started(process.waitFor(), output);
    }

    /** A source newer than the program, and a JDK that prints its arguments. */
    private void givenAnOldBuild() throws IOException {
        Path app = Files.createDirectories(home.resolve("target/quarkus-app"));
        Files.createFile(app.resolve("quarkus-run.jar"));
        givenAJdk();
    }

    private void givenAJdk() throws IOException {
        Path bin = Files.createDirectories(home.resolve(jdk).resolve("bin"));
        Files.writeString(home.resolve(jdk).resolve("release"), "JAVA_VERSION=\"25.0.1\"\n");
        for (String program : List.of("java", "javac")) {
            givenAProgram(bin.resolve(program));
        }
    }

    /** A program that prints its arguments. */
    private static void givenAProgram(Path file) throws IOException {
        Files.writeString(file, "#!/bin/sh\necho called with \"$@\"\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private void assertNothingWasBuilt() throws IOException {
        try (Stream<Path> made = Files.list(home)) {
            assertThat(made.map(path -> path.getFileName().toString())).doesNotContain("target");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "help", "--help", "-h", "up --help", "help up", "load --tenants 3 -h"})
    void withoutABuildHelpIsShortAndNamesEveryCommand(String arguments) throws Exception {
        String help = run(arguments.isEmpty() ? new String[0] : arguments.split(" "));
        Set<String> commands =
                QuartermasterCommand.commandLine().getSubcommands().keySet();
        assertThat(commands).contains("up", "help", "submit");
        assertThat(help.lines().map(line -> line.strip().split(" ")[0])).containsAll(commands);
        assertNothingWasBuilt();
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "up --help"})
    void helpIsTheLastBuiltProgramsHoweverOldItIs(String arguments) throws Exception {
        givenAnOldBuild();
        assertThat(run(arguments.split(" "))).startsWith("called with").endsWith("quarkus-run.jar " + arguments + "\n");
    }

    @Test
    void anArchiveWithoutSourcesRunsWhatItHolds() throws Exception {
        givenAnOldBuild();
        Files.delete(home.resolve("pom.xml"));

        assertThat(run("status", "--data-dir", "x"))
                .startsWith("called with")
                .endsWith("target/quarkus-app/quarkus-run.jar status --data-dir x\n");
    }

    @Test
    void theProgramKnowsTheNameByWhichItIsCalled() throws Exception {
        givenAnOldBuild();
        Files.delete(home.resolve("pom.xml"));
        Files.setPosixFilePermissions(home.resolve("qm"), PosixFilePermissions.fromString("rwxr-xr-x"));

        assertThat(run("status")).contains(" -Dqm.command=" + home.resolve("qm") + " ");
        assertThat(shell("./qm status")).contains(" -Dqm.command=./qm ");
        assertThat(shell("PATH=\"$PWD:$PATH\" qm status")).contains(" -Dqm.command=qm ");
    }

    private String shell(String line) throws IOException, InterruptedException {
        ProcessBuilder builder =
                new ProcessBuilder("sh", "-c", line).directory(home.toFile()).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", home.resolve(jdk).toString());
        Process process = builder.start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }

    @Test
    void eachErrorOfABuildIsShownOnce() throws Exception {
        givenAnOldBuild();
        Path maven = home.resolve("mvnw");
        Files.writeString(maven, """
                #!/bin/sh
                for turn in 1 2; do
                    echo '[INFO] noise'
                    echo '[ERROR] /src/A.java:[3,7] cannot find symbol'
                    echo '[ERROR] /src/B.java:[5,1] missing return statement'
                done
                exit 1
                """);
        Files.setPosixFilePermissions(maven, PosixFilePermissions.fromString("rwxr-xr-x"));

        Started build = start("status");

        assertThat(build.exitCode()).isEqualTo(1);
        assertThat(build.output().lines().filter(line -> line.startsWith("[")))
                .containsExactly(
                        "[ERROR] /src/A.java:[3,7] cannot find symbol",
                        "[ERROR] /src/B.java:[5,1] missing return statement");
    }

    @Test
    void helpHasOneSentenceForEachCommand() {
        CommandLine all = QuartermasterCommand.commandLine();

        assertThat(all.getSubcommands().values()).allSatisfy(command -> {
            String[] description = command.getCommandSpec().usageMessage().description();
            assertThat(description).as(command.getCommandName()).isNotEmpty();
            assertThat(description[0]).as(command.getCommandName()).endsWith(".");
        });
        assertThat(all.getUsageMessage()).contains("--detach", "qm bench");
    }

    @ParameterizedTest
    @CsvSource({"lsit,list", "statsu,status", "rest,reset"})
    void theWholeProgramRecognizesASlipOfAFinger(String word, String command) {
        StringWriter err = new StringWriter();

        int exitCode = QuartermasterCommand.commandLine()
                .setErr(new PrintWriter(err, true))
                .execute(word);

        assertThat(exitCode).isEqualTo(2);
        assertThat(err.toString().lines()).contains("Did you mean: " + command + "?");
    }

    @Test
    void theAgentRunsFromItsOwnJar() throws Exception {
        givenAJdk();
        Files.delete(home.resolve("pom.xml"));
        Path jar = home.resolve("target/agent/quartermaster-agent.jar");
        Files.createDirectories(home.resolve("target/agent"));
        Files.createFile(jar);

        assertThat(run("agent", "--node", "a")).endsWith("-jar " + jar + " --node a\n");
        assertThat(run("agent", "--help")).endsWith("-jar " + jar + " --help\n");
        assertThat(run("help", "agent")).endsWith("-jar " + jar + " --help\n");
    }

    @Test
    void commandsOfPeopleRunFromTheirOwnJar() throws Exception {
        givenAJdk();
        Files.delete(home.resolve("pom.xml"));
        Path jar = home.resolve("target/client/quartermaster-client.jar");
        Files.createDirectories(home.resolve("target/client"));
        Files.createFile(jar);

        assertThat(run("submit", "-q", "a", "--", "sh", "-c", "x y"))
                .endsWith("-jar " + jar + " submit -q a -- sh -c x y\n");
        assertThat(run("login", "--help")).endsWith("-jar " + jar + " login --help\n");
    }

    @Test
    void theRecordOfClassesIsOneWordAlsoInAFolderWithASpace() throws Exception {
        Path jar = givenTheArchiveOfTheClient();
        Path recorded = Files.createFile(jar.resolveSibling("quartermaster-client.aot"));
        Files.setLastModifiedTime(jar, FileTime.fromMillis(0));
        Files.writeString(
                home.resolve(jdk).resolve("bin/java"), "#!/bin/sh\nfor word in \"$@\"; do echo \"[$word]\"; done\n");

        assertThat(run("submit", "a b").lines())
                .endsWith(
                        "[-XX:AOTCache=" + recorded + "]",
                        "[-Xlog:disable]",
                        "[-jar]",
                        "[" + jar + "]",
                        "[submit]",
                        "[a b]");
    }

    @Test
    void theArchiveOfTheClientSaysWhatItHolds() throws Exception {
        Path jar = givenTheArchiveOfTheClient();

        for (String asked : List.of("--help", "help", "help submit", "--version", "-V")) {
            assertThat(run(asked.split(" "))).as(asked).endsWith("-jar " + jar + " " + asked + "\n");
        }
        Started refused = start("up");
        assertThat(refused.exitCode()).isEqualTo(4);
        assertThat(refused.output()).contains("this archive has the commands of people alone: ./qm --help");
        Files.delete(jar);
        assertThat(run("--help")).contains("This archive has the agent alone").doesNotContain("not built yet");
    }

    @Test
    void commandsOfPeopleReadLettersBeyondAscii() throws Exception {
        givenTheArchiveOfTheClient();
        Files.writeString(home.resolve(jdk).resolve("bin/java"), "#!/bin/sh\necho \"$LC_ALL\"\n");

        for (String locale : List.of("", "C", "POSIX", "de_DE.UTF-8")) {
            ProcessBuilder builder =
                    new ProcessBuilder("sh", home.resolve("qm").toString(), "list").redirectErrorStream(true);
            builder.environment().keySet().removeIf(name -> name.startsWith("LC_") || name.equals("LANG"));
            builder.environment().put("JAVA_HOME", home.resolve(jdk).toString());
            builder.environment().put("LC_ALL", locale);
            String output = new String(builder.start().getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(output.strip()).isEqualTo(locale.startsWith("de") ? locale : "C.UTF-8");
        }
    }

    @Test
    void noCommandReplacesAWordByAFile() {
        assertThat(QuartermasterCommand.commandLine().isExpandAtFiles()).isFalse();
    }

    private Path givenTheArchiveOfTheClient() throws IOException {
        givenAJdk();
        Files.delete(home.resolve("pom.xml"));
        Path folder = Files.createDirectories(home.resolve("target/client"));
        return Files.createFile(folder.resolve("quartermaster-client.jar"));
    }

    @Test
    void launcherKnowsEveryCommandOfPeople() throws Exception {
        givenAJdk();
        Files.delete(home.resolve("pom.xml"));
        Files.createDirectories(home.resolve("target/client"));
        Files.createFile(home.resolve("target/client/quartermaster-client.jar"));
        CommandLine people = ClientProgram.commandLine(
                new ClientEnvironment(Map.of(), home.toString(), InputStream.nullInputStream(), false, false));

        for (String command : people.getSubcommands().keySet()) {
            if (!command.equals("help")) {
                assertThat(run(command)).as(command).endsWith("quartermaster-client.jar " + command + "\n");
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "test --help",
                "help test",
                "test --unit -h",
                "campaign --help",
                "fmt --help",
                "dev --help",
                "bench -h"
            })
    void helpOnTheLaunchersOwnCommandsNeedsNothing(String arguments) throws Exception {
        String command = arguments.replaceFirst("help ", "").split(" ")[0];
        assertThat(run(arguments.split(" "))).startsWith("Usage: qm " + command);
        assertNothingWasBuilt();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "test -DskipITs                        | verify -DskipITs",
                "test --seed 7 -DskipITs               | verify -Dqm.seed=7 -DskipITs",
                "test --unit                           | test -Dspotless.check.skip -Dqm.cases=25",
                "test --unit BookTest,PoolTest#a -X    | test -Dspotless.check.skip -Dtest=BookTest,PoolTest#a -X",
                "test --unit --seed -7                 | test -Dspotless.check.skip -Dqm.cases=25 -Dqm.seed=-7",
                "test --it PoolIT#a,LeaseIT -X         | process-test-classes failsafe:integration-test failsafe:verify"
                        + " -Dspotless.check.skip -Dit.test=PoolIT#a,LeaseIT -X",
                "fmt                                   | -q spotless:apply",
                "bench                                 | test -Dspotless.check.skip -Dtest=RepresentativeBenchmark"
                        + " -Dqm.bench.parts=all -Dqm.bench.check=false",
                "bench fill churn --nodes 9 --check -X | test -Dspotless.check.skip -Dtest=RepresentativeBenchmark"
                        + " -Dqm.bench.parts=fill,churn -Dqm.bench.check=true -Dqm.bench.nodes=9 -X",
            })
    void runsMavenWithWhatIsAskedFor(String arguments, String goals) throws Exception {
        givenAJdk();
        givenAProgram(home.resolve("mvnw"));
        Files.createDirectories(home.resolve("src/test/java"));
        assertThat(run(arguments.split(" ")).replace(home.toString(), "HOME"))
                .isEqualTo("called with -B -ntp " + goals + "\n");
    }

    @Test
    void theWholeGateRunsInSteps() throws Exception {
        givenAJdk();
        givenAProgram(home.resolve("mvnw"));
        Path tests = Files.createDirectories(home.resolve("src/test/java/cli"));
        Files.writeString(tests.resolve("ProcessIT.java"), "class ProcessIT {}");
        Files.writeString(tests.resolve("OtherIT.java"), "@QuarkusTest\nclass OtherIT {}");

        assertThat(run("test", "--seed", "7")).contains("qm: all tests passed in ");

        String part = "failsafe:integration-test failsafe:verify -Dit.part=";
        assertThat(step("format")).isEqualTo("spotless:check");
        assertThat(step("compile")).isEqualTo("process-test-classes -Dspotless.check.skip -Dqm.seed=7");
        assertThat(step("package")).startsWith("package -Dspotless.check.skip");
        assertThat(step("unit")).isEqualTo("surefire:test -Dqm.seed=7");
        assertThat(step("services")).startsWith(part + "services -Dit.test=*IT,!PreparedDataIT,!ProcessIT,!io/");
        assertThat(step("cells")).startsWith(part + "cells -Dit.test=io/").endsWith(",!ProcessIT -Dqm.seed=7");
        assertThat(step("processes")).isEqualTo(part + "processes -Dit.test=ProcessIT -Dqm.seed=7");
    }

    @Test
    void aStepThatFailsFailsTheGateAndNamesItsOutput() throws Exception {
        givenAJdk();
        Path maven = home.resolve("mvnw");
        Files.writeString(maven, """
                #!/bin/sh
                case "$*" in *surefire:test*) echo '[ERROR] BookTest.aTest:7 was wrong'; exit 1;; esac
                """);
        Files.setPosixFilePermissions(maven, PosixFilePermissions.fromString("rwxr-xr-x"));

        Started failed = start("test");

        assertThat(failed.exitCode()).isEqualTo(1);
        assertThat(failed.output())
                .contains("unit: [ERROR] BookTest.aTest:7 was wrong", "qm: unit FAILED", "target/gate/unit.log")
                .contains("qm: services passed", "qm: cells passed", "qm: processes passed")
                .doesNotContain("all tests passed");
    }

    @Test
    void aFailureOfTheBuildEndsTheGateBeforeTheIntegrationTests() throws Exception {
        givenAJdk();
        Path maven = home.resolve("mvnw");
        Files.writeString(maven, """
                #!/bin/sh
                case "$*" in *" package "*) exit 1;; esac
                """);
        Files.setPosixFilePermissions(maven, PosixFilePermissions.fromString("rwxr-xr-x"));

        Started failed = start("test");

        assertThat(failed.exitCode()).isEqualTo(1);
        assertThat(failed.output())
                .contains("qm: package FAILED", "qm: prepare passed")
                .doesNotContain("services");
    }

    /** The arguments with which a step of the gate called Maven. */
    private String step(String name) throws IOException {
        return Files.readString(home.resolve("target/gate/" + name + ".log"))
                .strip()
                .replaceFirst("^called with -B -ntp ", "");
    }

    @Test
    void onlyATestOfThePackagedProgramHasItBuiltFirst() throws Exception {
        givenAnOldBuild();
        givenAProgram(home.resolve("mvnw"));
        Path tests = Files.createDirectories(home.resolve("src/test/java/cli"));
        Files.writeString(tests.resolve("ProcessIT.java"), "start(\"quarkus-run.jar\")");
        Files.writeString(tests.resolve("OtherIT.java"), "nothing of the kind");
        assertThat(run("test", "--it", "OtherIT")).doesNotContain("Building");
        assertThat(run("test", "--it", "OtherIT,ProcessIT#works")).startsWith("Building Quartermaster");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bench all of it",
                "bench --nodes few",
                "test --it",
                "test --it --unit",
                "test --seed",
                "test --seed five",
                "campaign",
                "campaign peace",
                "campaign properties --minutes 1.5"
            })
    void aWrongOptionIsRefusedBeforeAnythingRuns(String arguments) throws Exception {
        givenAJdk();
        Started refused = start(arguments.split(" "));
        assertThat(refused.exitCode()).isEqualTo(2);
        assertThat(refused.output()).startsWith("qm: ").doesNotContain("called with");
        assertNothingWasBuilt();
    }
}
