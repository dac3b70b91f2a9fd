package io.quartermaster.cli;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.cli.scenario.ScenarioReader;
import io.quartermaster.cli.scenario.ScenarioSyntaxException;
import io.quartermaster.cli.scenario.SimulationChart;
import io.quartermaster.cli.scenario.SimulationJson;
import io.quartermaster.engine.simulation.Scenario;
import io.quartermaster.engine.simulation.Simulation;
import io.quartermaster.engine.simulation.SimulationResult;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.regex.PatternSyntaxException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code qm simulate}: runs scenario files in virtual time and reports which of their expectations hold. */
@Command(
        name = "simulate",
        mixinStandardHelpOptions = true,
        description = "Runs scenario files against the scheduling engine in virtual time, or replays a trace.",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all scenarios passed",
            "1:a scenario failed",
            "2:a file is not a valid scenario, or there is none to run"
        })
public final class SimulateCommand implements Callable<Integer> {
    private static final int PASSED = 0;
    private static final int FAILED = 1;
    private static final int INVALID = 2;

    @Spec
    private @Nullable CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "FILE|FOLDER", description = "Scenario files, or folders of them.")
    private List<Path> paths = List.of();

    @Option(names = "--json", description = "Prints every decision and the state at each expectation as JSON.")
    private boolean json;

    @Option(
            names = "--receipts",
            description = "With --json: prints the receipt of every decision: the workloads it went before "
                    + "and the numbers compared, why it skipped earlier pools, the shares before and "
                    + "after, and its victims.")
    private boolean receipts;

    @Option(names = "--only", paramLabel = "GLOB", description = "Runs only scenarios whose name matches.")
    private String only = "*";

    @ArgGroup(exclusive = false, heading = "Replay of a trace instead of scenarios:%n")
    private @Nullable TraceRun trace;

    @Option(names = "--chart", paramLabel = "FILE", description = "Writes a chart over time as one HTML file.")
    private @Nullable Path chart;

    @Override
    public Integer call() {
        try {
            if (trace != null) {
                return trace.run(out(), Optional.ofNullable(chart));
            }
            if (paths.isEmpty()) {
                throw new InvalidFile("name scenario files or folders, or use --trace");
            }
            if (receipts && !json) {
                throw new InvalidFile("--receipts needs --json");
            }
            List<SimulationResult> simulationResults = new ArrayList<>();
            for (Scenario scenario : scenarios()) {
                simulationResults.add(Simulation.run(
                        scenario, receipts ? Simulation.ReceiptMode.RECEIPTS : Simulation.ReceiptMode.NO_RECEIPTS));
            }
            print(simulationResults);
            if (chart != null) {
                write(chart, SimulationChart.of(simulationResults));
            }
            return simulationResults.stream().allMatch(SimulationResult::passed) ? PASSED : FAILED;
        } catch (InvalidFile e) {
            error().println(e.getMessage());
            return INVALID;
        }
    }

    static void write(Path file, String text) throws InvalidFile {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new InvalidFile(file + ": cannot write the file: " + e.getMessage());
        }
    }

    /** A file that is not a valid scenario; the message names the file, the place and the reason. */
    static final class InvalidFile extends Exception {
        InvalidFile(String message) {
            super(message);
        }
    }

    private PathMatcher names() throws InvalidFile {
        try {
            return FileSystems.getDefault().getPathMatcher("glob:" + only);
        } catch (PatternSyntaxException e) {
            throw new InvalidFile("--only: '" + only + "' is not a valid pattern: " + e.getDescription());
        }
    }

    private List<Scenario> scenarios() throws InvalidFile {
        PathMatcher names = names();
        List<Scenario> scenarios = new ArrayList<>();
        int read = 0;
        for (Path path : paths) {
            for (Path file : files(path)) {
                for (Scenario scenario : read(file)) {
                    read++;
                    if (names.matches(Path.of(scenario.name()))) {
                        scenarios.add(scenario);
                    }
                }
            }
        }
        if (scenarios.isEmpty()) {
            throw new InvalidFile(
                    "--only: no scenario has a name that matches '" + only + "', of " + read + " that were read");
        }
        return scenarios;
    }

    /** The file itself, or the scenario files of a folder; fails if a folder has none. */
    private static List<Path> files(Path path) throws InvalidFile {
        if (!Files.isDirectory(path)) {
            return List.of(path);
        }
        try (Stream<Path> found = Files.walk(path)) {
            List<Path> files = found.filter(file -> file.toString().matches(".*\\.ya?ml"))
                    .sorted()
                    .toList();
            if (files.isEmpty()) {
                throw new InvalidFile(path + ": there is no scenario file (.yaml or .yml) in this folder");
            }
            return files;
        } catch (IOException | UncheckedIOException e) {
            throw new InvalidFile(path + ": cannot list the folder: " + e.getMessage());
        }
    }

    private static List<Scenario> read(Path file) throws InvalidFile {
        try {
            return ScenarioReader.read(Files.readString(file));
        } catch (ScenarioSyntaxException e) {
            throw new InvalidFile(file + ":" + e.line() + ": " + e.getMessage());
        } catch (NoSuchFileException e) {
            throw new InvalidFile(file + ": no such file");
        } catch (IOException e) {
            throw new InvalidFile(file + ": cannot read the file: " + e.getMessage());
        }
    }

    private void print(List<SimulationResult> simulationResults) {
        PrintWriter out = out();
        if (json) {
            try {
                out.println(new ObjectMapper()
                        .writerWithDefaultPrettyPrinter()
                        .writeValueAsString(SimulationJson.of(simulationResults)));
            } catch (JsonProcessingException e) {
                throw new IllegalStateException("a result has no JSON form", e);
            }
        } else {
            int failed = 0;
            for (SimulationResult simulationResult : simulationResults) {
                out.println((simulationResult.passed() ? "PASS " : "FAIL ") + simulationResult.scenario());
                simulationResult.failures().forEach(failure -> out.println("  " + failure));
                failed += simulationResult.passed() ? 0 : 1;
            }
            out.println(simulationResults.size() + " scenarios, " + (simulationResults.size() - failed) + " passed, "
                    + failed + " failed");
        }
        out.flush();
    }

    private PrintWriter out() {
        return spec == null
                ? new PrintWriter(System.out, true)
                : spec.commandLine().getOut();
    }

    private PrintWriter error() {
        return spec == null
                ? new PrintWriter(System.err, true)
                : spec.commandLine().getErr();
    }
}
