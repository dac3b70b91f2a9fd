package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.cli.scenario.ScenarioSyntaxException;
import io.quartermaster.cli.scenario.TraceReader;
import io.quartermaster.cli.scenario.TraceReplay;
import io.quartermaster.engine.model.Node;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Replays of traces: reading, counting and printing. */
class TraceTest {
    private static final List<String> NODES = List.of(
            "sn,cpu_milli,memory_mib,gpu,model",
            "n0,32000,262144,4,T4",
            "n1,32000,262144,4,V100",
            "n2,64000,262144,8,V100");
    private static final List<String> PODS = List.of(
            "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec",
            "p0,4000,4096,1,500,",
            "p1,4000,4096,1,1000,V100|A100",
            "p2,8000,4096,4,1000,",
            "p3,2000,4096,0,0,");

    private static TraceReplay replay() {
        return new TraceReplay(TraceReader.nodes(NODES), TraceReader.workloads(PODS));
    }

    @Test
    void nothingIsAllocatedThatIsNotThere() {
        for (TraceReplay.Policy policy : TraceReplay.Policy.values()) {
            for (long seed = 0; seed < 20; seed++) {
                TraceReplay.Run run = replay().run(policy, seed, 130, false);
                assertThat(run.allocated()).isSorted().allMatch(part -> part <= 100_000);
                assertThat(run.stranded()).allMatch(part -> part >= 0 && part <= 100_000);
            }
        }
    }

    @Test
    void theSameSeedGivesTheSameRun() {
        assertThat(replay().run(TraceReplay.Policy.FRAGMENTATION, 7, 130, false))
                .isEqualTo(replay().run(TraceReplay.Policy.FRAGMENTATION, 7, 130, false));
    }

    @Test
    void namesOfNodesDecideNothingButTies() {
        List<Node> renamed = TraceReader.nodes(List.of(NODES.get(0), NODES.get(3), NODES.get(1), NODES.get(2)));
        List<Long> before =
                replay().run(TraceReplay.Policy.FRAGMENTATION, 3, 100, true).allocated();
        List<Long> after = new TraceReplay(renamed, TraceReader.workloads(PODS))
                .run(TraceReplay.Policy.FRAGMENTATION, 3, 100, true)
                .allocated();
        assertThat(after.getLast()).isEqualTo(before.getLast());
    }

    @Test
    void aWrongNumberIsNamedWithItsLine() {
        assertThatThrownBy(() -> TraceReader.nodes(List.of(NODES.get(0), "n0,many,1,1,T4")))
                .isInstanceOfSatisfying(ScenarioSyntaxException.class, error -> assertThat(error.line())
                        .isEqualTo(2))
                .hasMessageContaining("many");
    }

    @Test
    void theCommandPrintsTheCurveAndDrawsIt(@TempDir Path folder) throws Exception {
        Path nodes = Files.write(folder.resolve("nodes.csv"), NODES);
        Path pods = Files.write(folder.resolve("pods.csv"), PODS);
        Path chart = folder.resolve("chart.html");
        StringWriter out = new StringWriter();
        int exit = new CommandLine(new SimulateCommand())
                .setOut(new PrintWriter(out))
                .execute(
                        "--trace",
                        "openb",
                        "--nodes",
                        nodes.toString(),
                        "--pods",
                        pods.toString(),
                        "--seeds",
                        "2",
                        "--chart",
                        chart.toString());
        assertThat(exit).isZero();
        assertThat(out.toString()).contains("mean of 2").contains("allocated at 100 % requested");
        assertThat(Files.readString(chart)).contains("<svg").doesNotContain("http");
    }

    /** The result of a command: its exit code, and the errors that it printed. */
    private record Ran(int exit, String errors) {
        static Ran simulate(String... arguments) {
            StringWriter errors = new StringWriter();
            int exit = new CommandLine(new SimulateCommand())
                    .setOut(new PrintWriter(new StringWriter()))
                    .setErr(new PrintWriter(errors))
                    .execute(arguments);
            return new Ran(exit, errors.toString());
        }
    }

    @Test
    void anUnknownTraceOrPolicyIsToldWhatIsAccepted() {
        Ran trace = Ran.simulate("--trace", "foo", "--nodes", "n", "--pods", "p");
        assertThat(trace.exit()).isEqualTo(2);
        assertThat(trace.errors()).contains("accepted: openb; not 'foo'").doesNotContain("Exception");
        Ran policy = Ran.simulate("--trace", "openb", "--nodes", "n", "--pods", "p", "--policy", "foo");
        assertThat(policy.exit()).isEqualTo(2);
        assertThat(policy.errors())
                .contains("accepted: fragmentation, pack, spread")
                .doesNotContain("Exception");
    }

    @Test
    void whoeverNamesNoScenarioIsTold(@TempDir Path folder) throws Exception {
        Ran empty = Ran.simulate(folder.toString());
        assertThat(empty.exit()).isEqualTo(2);
        assertThat(empty.errors()).contains(folder.toString()).contains("no scenario file");
        Files.writeString(folder.resolve("s.yaml"), "scenario: s\n");
        Ran unmatched = Ran.simulate(folder.toString(), "--only", "t*");
        assertThat(unmatched.exit()).isEqualTo(2);
        assertThat(unmatched.errors()).contains("no scenario has a name that matches 't*', of 1");
        assertThat(Ran.simulate(folder.toString(), "--only", "s*").exit()).isZero();
    }

    @Test
    void drawingsOfAScenarioShareTheirTimeAndGoOnToItsEnd(@TempDir Path folder) throws Exception {
        Path scenario = Files.writeString(
                folder.resolve("s.yaml"),
                "scenario: s\npools: {p: {capacity: 2}}\nworkloads: [{name: a, path: acme, gpus: 1, duration: 1m}]\n"
                        + "expect: [{at: 4m, only-running: []}]\n");
        Path chart = folder.resolve("chart.html");
        assertThat(Ran.simulate(scenario.toString(), "--chart", chart.toString())
                        .exit())
                .isZero();
        assertThat(Files.readString(chart))
                .as("the curves of running and of waiting work have the same end")
                .contains(">240 s</text>")
                .doesNotContain("0.001 s", ">60 s<")
                .as("one of two GPUs is in use for a quarter of the time, and no workload waits")
                .contains("points=\"0,240 0,240 0,120 225,120 225,240 900,240 \"")
                .contains("points=\"0,240 0,240 0,0 900,0 \"")
                .contains("capacity of all pools")
                .contains("points=\"0,240 0,240 0,240 900,240 \"");
    }

    @Test
    void aScenarioIsDrawnToo(@TempDir Path folder) throws Exception {
        Path scenario = Files.writeString(
                folder.resolve("s.yaml"),
                "scenario: s\npools: {p: {capacity: 2}}\nworkloads: [{name: a, path: acme, gpus: 1, duration: 1m}]\n"
                        + "expect: [{at: 2m, only-running: []}]\n");
        Path chart = folder.resolve("chart.html");
        int exit = new CommandLine(new SimulateCommand())
                .setOut(new PrintWriter(new StringWriter()))
                .execute(scenario.toString(), "--chart", chart.toString());
        assertThat(exit).isZero();
        assertThat(Files.readString(chart)).contains("acme").contains("<polyline");
    }
}
