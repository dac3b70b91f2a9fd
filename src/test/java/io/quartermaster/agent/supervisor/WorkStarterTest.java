package io.quartermaster.agent.supervisor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quartermaster.agent.SupervisorProgram;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WorkStarterTest {
    private static final Map<String, String> VARIABLES = Map.of(
            "ODD",
            "two\nlines 'single' \"double\" $HOME `id` \\ = \u00e4\ud83d\ude80\t.",
            "EMPTY",
            "",
            "IFS",
            "x",
            "LD_X",
            "=",
            "PATH",
            "/nowhere:/usr/bin:/bin");

    /** The implementations of the starter. */
    enum Way {
        PERL,
        JAVA
    }

    @TempDir
    @SuppressWarnings("NullAway.Init")
    Path folder;

    private List<String> starter(Way way) throws IOException {
        if (way == Way.PERL) {
            assumeTrue(Commands.find("perl").isPresent(), "SKIPPED: there is no perl");
            return WorkStarter.inPerl(Commands.find("perl").orElseThrow());
        }
        Path jar;
        SupervisorProgram.install(folder);
        try (var files = Files.list(folder)) {
            jar = files.filter(file -> file.toString().endsWith(".jar"))
                    .findFirst()
                    .orElseThrow();
        }
        return WorkStarter.inJava(jar);
    }

    private String run(Way way, List<String> command) throws Exception {
        return run(starter(way), command);
    }

    private String run(List<String> starter, List<String> command) throws Exception {
        byte[] message = WorkStarter.message(ProcessHandle.current().pid(), folder, command, VARIABLES);
        Process process = new ProcessBuilder(starter).redirectErrorStream(true).start();
        process.getOutputStream().write(message);
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return output + "exit " + process.waitFor();
    }

    @ParameterizedTest
    @EnumSource
    void variablesArriveByteForByteAndNoOthers(Way way) throws Exception {
        String output = run(way, List.of("env", "-0"));

        String[] variables = output.substring(0, output.lastIndexOf("exit")).split("\0");
        assertThat(variables)
                .containsExactlyInAnyOrderElementsOf(VARIABLES.entrySet().stream()
                        .map(entry -> entry.getKey() + "=" + entry.getValue())
                        .toList());
    }

    @ParameterizedTest
    @EnumSource
    void theWorkHasNothingOpenAndNoSignalBlockedOrIgnored(Way way) throws Exception {
        assumeTrue(Files.exists(Path.of("/proc/self/fd")), "SKIPPED: there is no /proc");

        assertThat(run(way, List.of("ls", "/proc/self/fd"))).isEqualTo("0\n1\n2\n3\nexit 0");
        assertThat(run(way, List.of("readlink", "/proc/self/fd/0", "/proc/self/cwd")))
                .isEqualTo("/dev/null\n%s\nexit 0".formatted(folder.toRealPath()));
        // An agent that nohup(1) started ignores SIGHUP, and processes inherit ignored signals.
        List<String> started = new ArrayList<>(List.of("nohup"));
        started.addAll(starter(way));
        assertThat(run(started, List.of("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status")))
                // The C library reserves the first two real-time signals.
                .matches("(nohup: .*\n)?SigBlk:\t0{16}\nSigIgn:\t0{7}[01][08]0{7}\nexit 0");
    }

    @ParameterizedTest
    @EnumSource
    void aProgramThatIsMissingOrNoProgramIsSaidToBe(Way way) throws Exception {
        Path plain = Files.writeString(folder.resolve("plain"), "no program");

        assertThat(run(way, List.of("no-such", "x"))).isEqualTo("cannot start: there is no program no-such\nexit 127");
        assertThat(run(way, List.of(plain.toString()))).endsWith("exit 126");
    }

    @ParameterizedTest
    @EnumSource
    void aScriptWithoutAnInterpreterIsTheShells(Way way) throws Exception {
        Path script = Files.writeString(folder.resolve("script"), "echo \"script $1\"\n");
        assertThat(script.toFile().setExecutable(true)).isTrue();

        assertThat(run(way, List.of("./script", "a b"))).isEqualTo("script a b\nexit 0");
    }

    @ParameterizedTest
    @EnumSource
    void textsWithNulAreRefused(Way way) {
        assertThatThrownBy(() -> run(way, List.of("true\0"))).hasMessageContaining("NUL");
    }
}
