package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.cli.scenario.ScenarioReader;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.EvictionReceipt;
import io.quartermaster.engine.model.NominationEnd;
import io.quartermaster.engine.model.OrderReceipt;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.simulation.Scenario;
import io.quartermaster.engine.simulation.Simulation;
import io.quartermaster.engine.simulation.SimulationResult;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** The receipts of small scenarios, compared with values computed by hand. */
class ReceiptsTest {

    /** The receipts of all decisions, in their order. */
    private static List<DecisionReceipt> receipts(String yaml) {
        Scenario scenario = ScenarioReader.read("scenario: receipts\ntitle: t\n" + yaml + "\nexpect: [{at: 60s}]")
                .getFirst();
        SimulationResult simulationResult = Simulation.run(scenario, Simulation.ReceiptMode.RECEIPTS);
        assertThat(simulationResult.failures()).isEmpty();
        return simulationResult.decisions().stream()
                .map(taken -> taken.receipt().orElseThrow())
                .toList();
    }

    private static DecisionReceipt of(List<DecisionReceipt> receipts, Class<? extends Decision> kind, String workload) {
        return receipts.stream()
                .filter(receipt -> kind.isInstance(receipt.decision())
                        && receipt.decision().workload().value().equals(workload))
                .findFirst()
                .orElseThrow();
    }

    private static OrderReceipt turn(DecisionReceipt receipt) {
        return receipt.turn().orElseThrow();
    }

    @Test
    void aStartNamesTheBranchItCameBeforeAndBothSidesNumbers() {
        List<DecisionReceipt> receipts = receipts("""
                pools: {p: {capacity: 4}}
                quotas: [{path: a, pool: p, reserved: 2}, {path: b, pool: p, reserved: 2}]
                workloads:
                  - {name: held, path: a, gpus: 1, state: running, on: p}
                  - {name: early, path: a, gpus: 1}
                  - {name: late, path: b, gpus: 1}
                """);
        DecisionReceipt late = receipts.getFirst();
        assertThat(late.decision().workload().value()).isEqualTo("late");
        assertThat(turn(late).withinReserved()).isTrue();
        assertThat(turn(late).candidates()).isEqualTo(2);
        OrderReceipt.Comparison won = turn(late).won().getFirst();
        assertThat(won.by()).isEqualTo(OrderReceipt.By.SHARE_WITH_REQUEST);
        assertThat(List.of(won.own(), won.other()))
                .extracting(
                        side -> side.path().toString(),
                        OrderReceipt.Side::usedGpuMilli,
                        OrderReceipt.Side::requestedGpuMilli,
                        OrderReceipt.Side::shareGpuMilli)
                .containsExactly(tuple("b", 0L, 1000L, 2000L), tuple("a", 1000L, 1000L, 2000L));
        // The division is fair: each gets min(R, D), and no workload requests more.
        assertThat(late.before())
                .extracting(
                        EvictionReceipt.Share::usedGpuMilli,
                        EvictionReceipt.Share::reservedGpuMilli,
                        EvictionReceipt.Share::fairGpuMilli)
                .containsExactly(tuple(0L, 2000L, 1000L));
        assertThat(late.after())
                .extracting(EvictionReceipt.Share::usedGpuMilli, EvictionReceipt.Share::fairGpuMilli)
                .containsExactly(tuple(1000L, 1000L));
        DecisionReceipt early = receipts.get(1);
        assertThat(turn(early).candidates()).isEqualTo(1);
        assertThat(turn(early).won()).isEmpty();
        assertThat(early.after())
                .extracting(EvictionReceipt.Share::usedGpuMilli)
                .containsExactly(2000L);
    }

    @Test
    void whoIsWithinItsReservationComesBeforeAllOthersWithoutBeingCompared() {
        List<DecisionReceipt> receipts = receipts("""
                pools: {p: {capacity: 6}}
                quotas: [{path: a, pool: p, weight: 1}, {path: b, pool: p, reserved: 4}]
                workloads:
                  - {name: early, path: a, gpus: 2}
                  - {name: late, path: b, gpus: 4}
                """);
        assertThat(receipts)
                .extracting(receipt -> receipt.decision().workload().value())
                .containsExactly("late", "early");
        assertThat(turn(receipts.get(0)).withinReserved()).isTrue();
        assertThat(turn(receipts.get(0)).candidates()).isEqualTo(2);
        assertThat(turn(receipts.get(0)).won()).isEmpty();
        assertThat(turn(receipts.get(1)).withinReserved()).isFalse();
        assertThat(receipts.get(1).before())
                .extracting(
                        EvictionReceipt.Share::usedGpuMilli,
                        EvictionReceipt.Share::reservedGpuMilli,
                        EvictionReceipt.Share::fairGpuMilli)
                .containsExactly(tuple(0L, 0L, 2000L));
    }

    @Test
    void aPoolsOrderOfProfilesIsNamedBeforeTheTree() {
        List<DecisionReceipt> receipts = receipts("""
                pools: {p: {capacity: 9, profile-order: [big, small]}}
                profiles: {small: {gpus: 1}, big: {gpus: 8}}
                workloads:
                  - {name: s, path: t, profile: small}
                  - {name: b, path: u, profile: big}
                """);
        assertThat(receipts)
                .extracting(receipt -> receipt.decision().workload().value())
                .containsExactly("b", "s");
        assertThat(receipts)
                .extracting(receipt -> turn(receipt).placeInPool())
                .containsExactly(OptionalInt.of(0), OptionalInt.of(1));
        assertThat(turn(receipts.getFirst()).candidates()).isEqualTo(2);
        assertThat(turn(receipts.getFirst()).won()).isEmpty();
    }

    @Test
    void withinAGroupItNamesWhatToldItFromTheNext() {
        List<DecisionReceipt> receipts = receipts("""
                pools: {p: {capacity: 3}}
                workloads:
                  - {name: old, count: 2, path: t, gpus: 1}
                  - {name: urgent, path: t, gpus: 1, priority: 90}
                """);
        assertThat(receipts)
                .extracting(receipt -> receipt.decision().workload().value())
                .containsExactly("urgent", "old-1", "old-2");
        assertThat(turn(receipts.get(0)).won())
                .extracting(
                        OrderReceipt.Comparison::by,
                        won -> won.other().workload().value())
                .containsExactly(tuple(OrderReceipt.By.PRIORITY, "old-1"));
        assertThat(turn(receipts.get(1)).won())
                .extracting(
                        OrderReceipt.Comparison::by,
                        won -> won.other().workload().value())
                .containsExactly(tuple(OrderReceipt.By.SUBMITTED, "old-2"));
    }

    @Test
    void aPoolThatWasTriedBeforeSaysWhyItWasNotTaken() {
        List<DecisionReceipt> receipts = receipts("""
                pools: {x: {capacity: 2}, y: {capacity: 2}, z: {capacity: 2}}
                quotas:
                  - {path: t, pool: x, limit: 1}
                  - {path: t, pool: y}
                  - {path: t, pool: z}
                workloads:
                  - {name: other, path: t, gpus: 1, state: running, on: y}
                  - {name: a, path: t, gpus: 2, pools: [x, y, z]}
                """);
        assertThat(receipts).hasSize(1);
        assertThat(receipts.getFirst().notTaken())
                .extracting(reason -> reason.pool().value(), Reason::code)
                .containsExactly(tuple("x", Reason.Code.LIMIT), tuple("y", Reason.Code.NO_CAPACITY));
    }

    @Test
    void aKeptPlaceNamesAllWhoLeaveForItAndByWhichRight() {
        List<DecisionReceipt> receipts = receipts("""
                pools: {p: {capacity: 4}}
                quotas: [{path: a, pool: p, weight: 1}, {path: b, pool: p, reserved: 2}]
                settings: {grace: 30s}
                workloads:
                  - {name: a1, path: a, gpus: 1, state: running, on: p, started: -4m}
                  - {name: a2, path: a, gpus: 1, state: running, on: p, started: -3m}
                  - {name: a3, path: a, gpus: 1, state: running, on: p, started: -2m}
                  - {name: a4, path: a, gpus: 1, state: running, on: p, started: -1m}
                  - {name: b, path: b, gpus: 2}
                """);
        DecisionReceipt kept = of(receipts, Decision.Nominate.class, "b");
        assertThat(turn(kept).withinReserved()).isTrue();
        assertThat(kept.notTaken()).extracting(Reason::code).containsExactly(Reason.Code.NO_CAPACITY);
        assertThat(kept.stops())
                .extracting(
                        stop -> stop.workload().value(), stop -> stop.receipt().right())
                .containsExactlyInAnyOrder(
                        tuple("a4", EvictionReceipt.Right.RESERVED), tuple("a3", EvictionReceipt.Right.RESERVED));
        assertThat(kept.before())
                .extracting(EvictionReceipt.Share::usedGpuMilli)
                .containsExactly(0L);
        assertThat(kept.after()).extracting(EvictionReceipt.Share::usedGpuMilli).containsExactly(2000L);
        DecisionReceipt stop = of(receipts, Decision.Evict.class, "a4");
        assertThat(stop.stops()).extracting(own -> own.workload().value()).containsExactly("a4");
        assertThat(stop.before().getFirst().usedGpuMilli()
                        - stop.after().getFirst().usedGpuMilli())
                .isEqualTo(1000);
        DecisionReceipt start = of(receipts, Decision.Start.class, "b");
        assertThat(start.turn()).isEmpty();
        assertThat(start.before()).isEqualTo(start.after());
    }

    @Test
    void aPlaceThatIsGivenUpSaysWhy() {
        List<DecisionReceipt> receipts = receipts("""
                pools: {p: {capacity: 2}}
                quotas: [{path: a, pool: p, weight: 1}, {path: b, pool: p, reserved: 2}]
                settings: {grace: 30s}
                workloads:
                  - {name: a, path: a, gpus: 2, state: running, on: p, started: -4m}
                  - {name: b, path: b, gpus: 2}
                timeline: [{at: 10s, set-quota: [{path: b, pool: p, limit: 1}]}]
                """);
        DecisionReceipt lost = of(receipts, Decision.WithdrawNomination.class, "b");
        assertThat(lost.givenUp()).contains(NominationEnd.LIMIT);
        assertThat(lost.before())
                .extracting(EvictionReceipt.Share::usedGpuMilli)
                .containsExactly(2000L);
        assertThat(lost.after()).extracting(EvictionReceipt.Share::usedGpuMilli).containsExactly(0L);
    }

    @Test
    void theSimulatorPrintsThemWithItsJson(@TempDir Path folder) throws IOException {
        Path file = folder.resolve("one.yaml");
        Files.writeString(file, """
                scenario: one
                title: t
                pools: {p: {capacity: 1}}
                quotas: [{path: a, pool: p, reserved: 1}, {path: b, pool: p, weight: 1}]
                workloads: [{name: a, path: a, gpus: 1}, {name: b, path: b, gpus: 1}]
                expect: [{at: 0s, running: [a]}]
                """);
        StringWriter out = new StringWriter();
        CommandLine command = new CommandLine(new SimulateCommand()).setOut(new PrintWriter(out));
        assertThat(command.execute("--json", "--receipts", file.toString())).isZero();
        JsonNode receipt = new ObjectMapper().readTree(out.toString()).at("/0/decisions/0/receipt");
        assertThat(receipt.at("/turn/withinReserved").asBoolean()).isTrue();
        assertThat(receipt.at("/turn/candidates").asInt()).isEqualTo(2);
        assertThat(receipt.at("/before/0/used").asText()).isEqualTo("0");
        assertThat(receipt.at("/after/0/used").asText()).isEqualTo("1");
        CommandLine refusing = new CommandLine(new SimulateCommand()).setErr(new PrintWriter(new StringWriter()));
        assertThat(refusing.execute("--receipts", file.toString())).isEqualTo(2);
    }
}
