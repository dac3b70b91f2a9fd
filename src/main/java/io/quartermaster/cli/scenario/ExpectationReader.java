package io.quartermaster.cli.scenario;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.simulation.Expectation;
import io.quartermaster.engine.simulation.Expectation.Claim;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;

/** Reader of the expectations of a scenario. */
final class ExpectationReader {
    private final Set<PoolId> pools;
    private final Set<WorkloadId> workloads;

    ExpectationReader(Set<PoolId> pools, Set<WorkloadId> workloads) {
        this.pools = pools;
        this.workloads = workloads;
    }

    List<Expectation> expectations(List<YamlSection> sections) {
        List<Expectation> expectations = new ArrayList<>();
        for (YamlSection section : sections) {
            try (section) {
                expectations.add(expectation(section));
            }
        }
        expectations.sort(Comparator.comparingLong(Expectation::atMillis));
        return expectations;
    }

    private Expectation expectation(YamlSection section) {
        long at = section.duration("at").orElseThrow(() -> section.error("'at' is missing"));
        if (at < 0) {
            throw section.error("'at' must not be before 0s");
        }
        List<Claim> claims = new ArrayList<>();
        each(section, "running", Claim.Running::new, claims);
        if (section.has("only-running")) {
            List<WorkloadId> only = new ArrayList<>();
            section.list("only-running").forEach(node -> only.add(workload(node)));
            claims.add(new Claim.OnlyRunning(only));
        }
        section.entries("on").forEach((name, node) -> claims.add(on(node, name)));
        pending(section, claims);
        each(section, "preempted", Claim.Preempted::new, claims);
        each(section, "not-preempted", Claim.NotPreempted::new, claims);
        section.entries("used").forEach((name, node) -> claims.add(used(name, YamlSection.milli(node))));
        section.entries("free")
                .forEach((name, node) -> claims.add(new Claim.Free(pool(node, name), YamlSection.milli(node))));
        section.entries("count-running")
                .forEach((name, node) ->
                        claims.add(new Claim.CountRunning(name, Math.toIntExact(YamlSection.milli(node) / 1000))));
        for (YamlSection same : section.sections("same-domain")) {
            try (same) {
                claims.add(new Claim.SameDomain(
                        known(same.line(), same.requiredText("workload")), same.requiredText("level")));
            }
        }
        return new Expectation(at, claims);
    }

    private void each(YamlSection section, String key, Function<WorkloadId, Claim> claim, List<Claim> claims) {
        section.list(key).forEach(node -> claims.add(claim.apply(workload(node))));
    }

    private Claim on(Node node, String name) {
        List<String> places = new ArrayList<>();
        YamlSection.elements(node).forEach(place -> places.add(YamlSection.scalar(place)));
        return new Claim.On(known(YamlSection.lineOf(node), name), places);
    }

    /** Reads a list of names, a list of names and codes, or a mapping from names to codes. */
    private void pending(YamlSection section, List<Claim> claims) {
        for (Node node : section.list("pending")) {
            if (node instanceof MappingNode mapping) {
                mapping.getValue()
                        .forEach(tuple -> claims.add(new Claim.Pending(
                                workload(tuple.getKeyNode()),
                                Optional.of(YamlSection.choice(tuple.getValueNode(), Reason.Code.class)))));
            } else {
                claims.add(new Claim.Pending(workload(node), Optional.empty()));
            }
        }
    }

    private Claim used(String name, long gpuMilli) {
        boolean pool = !name.isEmpty() && pools.contains(new PoolId(name));
        return pool
                ? new Claim.UsedInPool(new PoolId(name), gpuMilli)
                : new Claim.UsedByPath(QuotaPath.parse(name), gpuMilli);
    }

    private PoolId pool(Node node, String name) {
        PoolId id = new PoolId(name);
        if (!pools.contains(id)) {
            throw YamlSection.error(node, "there is no pool '" + name + "'");
        }
        return id;
    }

    private WorkloadId workload(Node node) {
        return known(YamlSection.lineOf(node), YamlSection.scalar(node));
    }

    private WorkloadId known(int line, String name) {
        WorkloadId id = new WorkloadId(name);
        if (!workloads.contains(id)) {
            throw new ScenarioSyntaxException(line, "there is no workload '" + name + "'");
        }
        return id;
    }
}
