package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.PoolId;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeSet;

/** Reader of the OpenB trace (Alibaba cluster-trace-gpu-v2023): its nodes and its workloads. */
public final class TraceReader {
    private static final PoolId POOL = new PoolId("trace");

    private TraceReader() {}

    /** @throws ScenarioSyntaxException if a line is invalid; it names the line */
    public static List<Node> nodes(List<String> lines) {
        List<Node> nodes = new ArrayList<>();
        for (int line = 1; line < lines.size(); line++) {
            String[] columns = columns(lines.get(line), line, 5);
            List<Node.Device> devices = new ArrayList<>();
            for (int index = 0; index < number(columns[3], line); index++) {
                devices.add(new Node.Device(index, columns[4], 0, false));
            }
            nodes.add(new Node(
                    new NodeId(columns[0]),
                    POOL,
                    true,
                    true,
                    devices,
                    OptionalLong.of(number(columns[1], line)),
                    OptionalLong.of(number(columns[2], line)),
                    Collections.emptySortedMap(),
                    List.of()));
        }
        return nodes;
    }

    /** @throws ScenarioSyntaxException if a line is invalid; it names the line */
    public static List<TraceReplay.TraceWorkload> workloads(List<String> lines) {
        List<TraceReplay.TraceWorkload> workloads = new ArrayList<>();
        for (int line = 1; line < lines.size(); line++) {
            String[] columns = columns(lines.get(line), line, 5);
            int devices = (int) number(columns[3], line);
            int gpuMilli = devices == 0 ? 0 : devices > 1 ? 1000 : (int) number(columns[4], line);
            GpuRequest gpus = gpuMilli % 1000 == 0 ? GpuRequest.whole(devices) : new GpuRequest.Fraction(1, gpuMilli);
            String spec = columns.length > 5 ? columns[5] : "";
            SortedSet<String> models = spec.isEmpty() ? new TreeSet<>() : new TreeSet<>(List.of(spec.split("\\|")));
            workloads.add(new TraceReplay.TraceWorkload(
                    gpus, (long) devices * gpuMilli, number(columns[1], line), number(columns[2], line), models));
        }
        return workloads;
    }

    private static String[] columns(String text, int line, int least) {
        String[] columns = text.split(",", -1);
        if (columns.length < least) {
            throw new ScenarioSyntaxException(line + 1, "at least " + least + " columns are expected");
        }
        return columns;
    }

    private static long number(String text, int line) {
        try {
            return text.isEmpty() ? 0 : Long.parseLong(text.replaceFirst("\\.0*$", ""));
        } catch (NumberFormatException e) {
            throw new ScenarioSyntaxException(line + 1, "a number is expected, not '" + text + "'");
        }
    }
}
