package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadPhase;
import io.quartermaster.engine.simulation.SimulationResult;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** JSON form of simulation results: maps and lists in a fixed order, so that two runs print the same bytes. */
public final class SimulationJson {
    private SimulationJson() {}

    public static List<Object> of(List<SimulationResult> simulationResults) {
        List<Object> list = new ArrayList<>();
        for (SimulationResult simulationResult : simulationResults) {
            Map<String, Object> object = new LinkedHashMap<>();
            object.put("scenario", simulationResult.scenario());
            object.put("outcome", simulationResult.passed() ? "PASS" : "FAIL");
            object.put("failures", simulationResult.failures());
            object.put(
                    "decisions",
                    simulationResult.decisions().stream()
                            .map(SimulationJson::decision)
                            .toList());
            object.put(
                    "moments",
                    simulationResult.stateSamples().stream()
                            .map(SimulationJson::sample)
                            .toList());
            list.add(object);
        }
        return list;
    }

    /** The name of a decision in the output; tools that read the output depend on it. */
    private static String kindName(Decision decision) {
        return switch (decision) {
            case Decision.Start start -> "start";
            case Decision.Grow grow -> "grow";
            case Decision.Evict evict -> "preempt";
            case Decision.Shrink shrink -> "shrink";
            case Decision.Nominate nominate -> "nominate";
            case Decision.WithdrawNomination withdrawal -> "denominate";
        };
    }

    private static Map<String, Object> decision(SimulationResult.TimedDecision timed) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("at", seconds(timed.atMillis()));
        Decision decision = timed.decision();
        object.put("decision", kindName(decision));
        object.put("workload", decision.workload().value());
        switch (decision) {
            case Decision.Start start -> {
                object.put("rule", start.rule());
                object.put("allocation", allocation(start.allocation()));
            }
            case Decision.Grow grow -> {
                object.put("rule", grow.rule());
                object.put("allocation", allocation(grow.added()));
            }
            case Decision.Evict evict -> {
                object.put("cause", evict.cause());
                evict.successor().ifPresent(successor -> object.put("successor", successor.value()));
                object.put("deadline", seconds(evict.deadlineMillis()));
                object.put("receipt", ReceiptJson.eviction(evict.receipt()));
            }
            case Decision.Shrink shrink -> {
                object.put("workers", shrink.workers());
                object.put("cause", shrink.cause());
                shrink.successor().ifPresent(successor -> object.put("successor", successor.value()));
                object.put("deadline", seconds(shrink.deadlineMillis()));
                object.put("receipt", ReceiptJson.eviction(shrink.receipt()));
            }
            case Decision.Nominate nominate -> object.put("allocation", allocation(nominate.place()));
            case Decision.WithdrawNomination withdrawNomination -> {}
        }
        timed.receipt().ifPresent(receipt -> object.putIfAbsent("receipt", ReceiptJson.of(receipt)));
        return object;
    }

    private static Map<String, Object> allocation(Allocation allocation) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("pool", allocation.pool().value());
        object.put("gpus", gpus(allocation.gpuMilli()));
        List<Object> workers = new ArrayList<>();
        for (Allocation.Worker worker : allocation.workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode place) {
                Map<String, Object> one = new LinkedHashMap<>();
                one.put("worker", worker.number());
                one.put("node", place.node().value());
                Map<String, Object> devices = new LinkedHashMap<>();
                place.shares().forEach(share -> devices.put(String.valueOf(share.device()), gpus(share.gpuMilli())));
                one.put("devices", devices);
                workers.add(one);
            }
        }
        object.put("workers", workers);
        return object;
    }

    private static Map<String, Object> sample(SimulationResult.StateSample sample) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("at", seconds(sample.atMillis()));
        Map<String, Object> running = new LinkedHashMap<>();
        for (Workload workload : sample.workloads()) {
            if (workload.state() instanceof WorkloadPhase.Holding holding) {
                running.put(workload.id().value(), allocation(holding.allocation()));
            }
        }
        object.put("running", running);
        Map<String, Object> waiting = new LinkedHashMap<>();
        for (WaitReasons waitReasons : sample.waits()) {
            waiting.put(
                    waitReasons.workload().value(),
                    waitReasons.perPool().stream().map(SimulationJson::reason).toList());
        }
        object.put("waiting", waiting);
        return object;
    }

    static Map<String, Object> reason(Reason reason) {
        Map<String, Object> object = new LinkedHashMap<>();
        object.put("pool", reason.pool().value());
        object.put("code", reason.code());
        reason.path().ifPresent(path -> object.put("path", path.toString()));
        object.put("sentence", reason.sentence());
        object.put("remedy", reason.remedy());
        return object;
    }

    private static BigDecimal seconds(long millis) {
        BigDecimal exact = BigDecimal.valueOf(millis, 3).stripTrailingZeros();
        return exact.scale() < 0 ? exact.setScale(0) : exact;
    }

    static String gpus(long gpuMilli) {
        return BigDecimal.valueOf(gpuMilli, 3).stripTrailingZeros().toPlainString();
    }
}
