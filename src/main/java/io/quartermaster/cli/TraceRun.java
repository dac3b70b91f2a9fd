package io.quartermaster.cli;

import io.quartermaster.cli.scenario.ScenarioSyntaxException;
import io.quartermaster.cli.scenario.SimulationChart;
import io.quartermaster.cli.scenario.TraceReader;
import io.quartermaster.cli.scenario.TraceReplay;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Function;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** The options of a trace's replay, and the replay: several seeds, and the mean of their results. */
final class TraceRun {
    private static final int TENTHS_AT_FULL_REQUEST = 10;

    /** The supported traces. */
    enum Trace {
        OPENB
    }

    @Option(
            names = "--trace",
            required = true,
            converter = TraceByName.class,
            description = "Name of the trace of the lists: openb.")
    private Trace trace = Trace.OPENB;

    /** Names in lower case, as scenario files have them. */
    static final class TraceByName implements ITypeConverter<Trace> {
        @Override
        public Trace convert(String name) {
            return byName(name, Trace.class);
        }
    }

    /** Names in lower case, as scenario files have them. */
    static final class PolicyByName implements ITypeConverter<TraceReplay.Policy> {
        @Override
        public TraceReplay.Policy convert(String name) {
            return byName(name, TraceReplay.Policy.class);
        }
    }

    private static <E extends Enum<E>> E byName(String name, Class<E> type) {
        List<String> accepted = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            String lower = constant.name().toLowerCase(Locale.ROOT);
            if (lower.equals(name.toLowerCase(Locale.ROOT))) {
                return constant;
            }
            accepted.add(lower);
        }
        throw new TypeConversionException("accepted: " + String.join(", ", accepted) + "; not '" + name + "'");
    }

    @Option(names = "--nodes", required = true, paramLabel = "FILE", description = "The trace's list of nodes.")
    private Path nodes = Path.of(".");

    @Option(names = "--pods", required = true, paramLabel = "FILE", description = "The trace's list of pods.")
    private Path pods = Path.of(".");

    @Option(
            names = "--policy",
            converter = PolicyByName.class,
            description = "Placement policy: fragmentation, pack or spread. Default: ${DEFAULT-VALUE}.",
            defaultValue = "fragmentation")
    private TraceReplay.Policy policy = TraceReplay.Policy.FRAGMENTATION;

    @Option(names = "--seeds", description = "Number of runs. Default: ${DEFAULT-VALUE}.", defaultValue = "10")
    private int seeds = 10;

    @Option(
            names = "--inflation",
            paramLabel = "PERCENT",
            description = "Requested GPUs at the end, in percent of all GPUs. Default: ${DEFAULT-VALUE}.",
            defaultValue = "130")
    private int inflation = 130;

    @Option(names = "--whole-queue", description = "All work waits from the beginning, and the largest goes first.")
    private boolean wholeQueue;

    int run(PrintWriter out, Optional<Path> chart) throws SimulateCommand.InvalidFile {
        TraceReplay replay = new TraceReplay(read(nodes, TraceReader::nodes), read(pods, TraceReader::workloads));
        List<TraceReplay.Run> runs = new ArrayList<>();
        for (int seed = 0; seed < seeds; seed++) {
            TraceReplay.Run run = replay.run(policy, 42L + seed, inflation, wholeQueue);
            runs.add(run);
            out.println("seed " + (42 + seed) + ": " + summary(run));
            out.flush();
        }
        List<Long> allocated = mean(runs, TraceReplay.Run::allocated);
        List<Long> stranded = mean(runs, TraceReplay.Run::stranded);
        out.println(trace.name().toLowerCase(Locale.ROOT) + ", "
                + policy.name().toLowerCase(Locale.ROOT) + ", mean of " + seeds + ": "
                + summary(new TraceReplay.Run(allocated, stranded)));
        out.println("requested %  allocated %  unusable %");
        for (int i = 0; i < allocated.size(); i++) {
            int requested = i == allocated.size() - 1 ? inflation : 10 * (i + 1);
            out.printf(
                    Locale.ROOT, "%11d  %11s  %10s%n", requested, percent(allocated.get(i)), percent(stranded.get(i)));
        }
        out.flush();
        if (chart.isPresent()) {
            SimulateCommand.write(chart.get(), SimulationChart.ofTrace(allocated, stranded));
        }
        return 0;
    }

    private String summary(TraceReplay.Run run) {
        String atAll = run.allocated().size() < TENTHS_AT_FULL_REQUEST
                ? ""
                : percent(run.allocated().get(TENTHS_AT_FULL_REQUEST - 1)) + " % allocated at 100 % requested, ";
        return atAll + percent(run.allocated().getLast()) + " % at " + inflation + " %, "
                + percent(run.stranded().getLast()) + " % unusable";
    }

    private static List<Long> mean(List<TraceReplay.Run> runs, Function<TraceReplay.Run, List<Long>> curve) {
        List<Long> mean = new ArrayList<>();
        int points =
                runs.stream().mapToInt(run -> curve.apply(run).size()).min().orElse(0);
        for (int i = 0; i < points; i++) {
            long sum = 0;
            for (TraceReplay.Run run : runs) {
                sum += curve.apply(run).get(i);
            }
            mean.add(sum / runs.size());
        }
        return mean;
    }

    private static String percent(long partsPer100Thousand) {
        return String.format(Locale.ROOT, "%d.%03d", partsPer100Thousand / 1000, partsPer100Thousand % 1000);
    }

    private static <T> T read(Path file, Function<List<String>, T> reader) throws SimulateCommand.InvalidFile {
        try {
            return reader.apply(Files.readAllLines(file));
        } catch (ScenarioSyntaxException e) {
            throw new SimulateCommand.InvalidFile(file + ":" + e.line() + ": " + e.getMessage());
        } catch (IOException e) {
            throw new SimulateCommand.InvalidFile(file + ": cannot read the file: " + e.getMessage());
        }
    }
}
