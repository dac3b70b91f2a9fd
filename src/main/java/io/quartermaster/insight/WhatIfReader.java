package io.quartermaster.insight;

import io.quartermaster.capacity.inventory.ResourceNames;
import io.quartermaster.governance.policies.PolicyReader;
import io.quartermaster.governance.profiles.ProfileApi;
import io.quartermaster.governance.profiles.ProfileReader;
import io.quartermaster.insight.SimulationApi.Hypothetical;
import io.quartermaster.insight.SimulationApi.NewNodes;
import io.quartermaster.insight.SimulationApi.PolicyChange;
import io.quartermaster.insight.SimulationApi.QuotaChange;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.workloads.Submission;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Checks the form of a simulation request, and collects all its errors. */
final class WhatIfReader {

    static final int MAX_WORKLOADS = 1_000;
    static final int MAX_TENANTS = 100;
    static final int MAX_POLICIES = 100;
    static final int MAX_QUOTAS = 100;
    static final int MAX_NODES = 1_000;
    static final int MAX_GPUS = 64;
    private static final int MAX_LABELS = 64;
    private static final long MAX_AMOUNT = 1_000_000_000L;
    private static final Pattern QUEUE = Pattern.compile("[a-z0-9][a-z0-9-]{0,126}");
    private static final Pattern NODE = Pattern.compile("[a-z0-9][a-z0-9.-]{0,62}");
    private static final Pattern TEXT = Pattern.compile("[\\p{L}\\p{N} ._/:-]{1,127}");

    private final InsightConfig config;
    private final ProblemException.Invalid problems = new ProblemException.Invalid();
    private int workloads;

    private WhatIfReader(InsightConfig config) {
        this.config = config;
    }

    static WhatIfQuestion read(InsightConfig config, TenantId tenant, SimulationApi.@Nullable Request request) {
        if (request == null) {
            throw ProblemException.invalid("body", "is missing", "a JSON object");
        }
        WhatIfReader reader = new WhatIfReader(config);
        WhatIfQuestion.OfTenant one = reader.readTenant(tenant, "", request.workloads(), request.policies(), List.of());
        return reader.requireNonEmpty(
                new WhatIfQuestion(
                        List.of(one), List.of(), List.of(), List.of(), reader.readHorizon(request.horizon())),
                "at least one change, in workloads or policies");
    }

    static WhatIfQuestion read(InsightConfig config, SimulationApi.@Nullable CellRequest request) {
        if (request == null) {
            throw ProblemException.invalid("body", "is missing", "a JSON object");
        }
        WhatIfReader reader = new WhatIfReader(config);
        List<SimulationApi.TenantChange> parts = reader.readList("tenants", request.tenants(), MAX_TENANTS);
        List<WhatIfQuestion.OfTenant> tenants = new ArrayList<>();
        for (int i = 0; i < parts.size(); i++) {
            SimulationApi.TenantChange part = parts.get(i);
            String at = "tenants[" + i + "].";
            String id = part.tenant();
            if (id == null || !TenantId.isValid(id)) {
                reader.problems.add(at + "tenant", "is not the id of a tenant", "the id of a tenant");
            } else if (tenants.stream().anyMatch(known -> known.tenant().value().equals(id))) {
                reader.problems.add(at + "tenant", "is named twice", "each tenant once");
            } else {
                tenants.add(
                        reader.readTenant(new TenantId(id), at, part.workloads(), part.policies(), part.allotments()));
            }
        }
        SimulationApi.NodesChange nodes = request.nodes();
        return reader.requireNonEmpty(
                new WhatIfQuestion(
                        tenants,
                        nodes == null ? List.of() : reader.readAdded(nodes.added()),
                        nodes == null ? List.of() : reader.readNodes("nodes.removed", nodes.removed()),
                        nodes == null ? List.of() : reader.readNodes("nodes.down", nodes.down()),
                        reader.readHorizon(request.horizon())),
                "at least one change, in tenants or nodes");
    }

    /** @param accepted the fields in which a request without any change could name one */
    private WhatIfQuestion requireNonEmpty(WhatIfQuestion whatIfQuestion, String accepted) {
        problems.check(
                workloads <= MAX_WORKLOADS,
                "workloads",
                "there are " + workloads + " workloads, if each counts as often as its count states",
                "up to " + MAX_WORKLOADS);
        problems.check(!problems.isEmpty() || !whatIfQuestion.isEmpty(), "body", "contains no change", accepted);
        problems.throwIfAny();
        return whatIfQuestion;
    }

    private Duration readHorizon(@Nullable Duration asked) {
        Duration most = config.longestHorizon();
        boolean fine = asked == null || asked.compareTo(Duration.ZERO) >= 0 && asked.compareTo(most) <= 0;
        problems.check(fine, "horizon", "out of range", "PT0S to " + most);
        return asked == null || !fine ? config.horizon() : asked;
    }

    private <T> List<T> readList(String field, @Nullable List<@Nullable T> given, int max) {
        List<T> all = new ArrayList<>();
        if (given != null) {
            problems.check(given.size() <= max, field, "there are " + given.size(), "up to " + max);
            for (int i = 0; i < Math.min(given.size(), max); i++) {
                T one = given.get(i);
                if (one == null) {
                    problems.add(field + "[" + i + "]", "is null", "an object");
                } else {
                    all.add(one);
                }
            }
        }
        return all;
    }

    private WhatIfQuestion.OfTenant readTenant(
            TenantId tenant,
            String at,
            @Nullable List<@Nullable Hypothetical> work,
            @Nullable List<@Nullable PolicyChange> changed,
            @Nullable List<@Nullable QuotaChange> granted) {
        List<Hypothetical> asked = readList(at + "workloads", work, MAX_WORKLOADS);
        List<PolicyChange> policies = readList(at + "policies", changed, MAX_POLICIES);
        List<QuotaChange> allotments = readList(at + "allotments", granted, MAX_QUOTAS);
        WhatIfQuestion.OfTenant one = new WhatIfQuestion.OfTenant(tenant, at, asked, policies, allotments);
        for (int i = 0; i < asked.size(); i++) {
            checkWorkload(one.workload(i), asked.get(i));
        }
        for (int i = 0; i < policies.size(); i++) {
            PolicyChange policy = policies.get(i);
            ResourceNames.check(problems, one.policy(i) + "policy", policy.policy());
            boolean again = policies.subList(0, i).stream()
                    .anyMatch(earlier -> Objects.equals(earlier.policy(), policy.policy()));
            problems.check(!again, one.policy(i) + "policy", "is named twice", "each policy once");
            PolicyReader.maxRunning(problems, one.policy(i) + "maxRunning", policy.maxRunning());
            checkQuotas(
                    one.policy(i) + "quotas", readList(one.policy(i) + "quotas", policy.quotas(), MAX_QUOTAS), true);
        }
        checkQuotas(at + "allotments", allotments, false);
        return one;
    }

    private void checkQuotas(String at, List<QuotaChange> quotas, boolean allPools) {
        for (int i = 0; i < quotas.size(); i++) {
            QuotaChange quota = quotas.get(i);
            String field = at + "[" + i + "].";
            if (!(allPools && "*".equals(quota.pool()))) {
                ResourceNames.check(problems, field + "pool", quota.pool());
            }
            boolean again =
                    quotas.subList(0, i).stream().anyMatch(earlier -> Objects.equals(earlier.pool(), quota.pool()));
            problems.check(!again, field + "pool", "is named twice", "each pool once");
            quota.fields().check(problems, field);
        }
    }

    private void checkWorkload(String at, Hypothetical workload) {
        int count = workload.count() == null ? 1 : workload.count();
        boolean fine = count >= 1 && count <= MAX_WORKLOADS;
        problems.check(fine, at + "count", "out of range", "1 to " + MAX_WORKLOADS);
        workloads += fine ? count : 0;
        checkText(at + "name", workload.name(), "1 to 127 letters, digits, spaces and any of . _ / : -");
        String queue = workload.queue();
        if (queue != null) {
            problems.check(
                    QUEUE.matcher(queue).matches(),
                    at + "queue",
                    "is not a name of a queue",
                    "the name of an open queue");
            problems.check(
                    workload.policy() == null,
                    at + "policy",
                    "cannot be combined with a queue",
                    "a queue, or a policy");
            problems.check(
                    workload.shape() == null,
                    at + "shape",
                    "cannot be combined with a queue, whose profile gives the shape",
                    "a queue, or a shape");
        } else if (workload.policy() == null && workload.shape() == null) {
            problems.add(at + "queue", "is missing, and so is a policy", "a queue, or a policy and a shape");
        } else {
            ResourceNames.check(problems, at + "policy", workload.policy());
            checkShape(at, workload.shape());
        }
        Submission.checkGpus(workload.gpus(), at + "gpus", problems);
        Submission.checkGpus(workload.minGpus(), at + "minGpus", problems);
        Integer priority = workload.priority();
        problems.check(
                priority == null || priority >= 0 && priority <= Submission.MAX_PRIORITY,
                at + "priority",
                "out of range",
                "0 to " + Submission.MAX_PRIORITY);
        Duration runtime = workload.maxRuntime();
        problems.check(
                runtime == null
                        || runtime.compareTo(Duration.ofSeconds(1)) >= 0
                                && runtime.compareTo(Submission.MAX_RUNTIME) <= 0,
                at + "maxRuntime",
                "out of range",
                "an ISO-8601 duration from PT1S to " + Submission.MAX_RUNTIME);
    }

    /** The builder checks later whether its pools belong to the tenant. */
    private void checkShape(String at, ProfileApi.@Nullable Request shape) {
        if (shape == null) {
            problems.add(at + "shape", "is missing, and a policy has no shape of its own", "gpus and pools");
            return;
        }
        problems.check(
                shape.name() == null,
                at + "shape.name",
                "is not allowed for a shape",
                "no name; the workload may have one");
        new ProfileReader(problems, at + "shape.").check(shape);
        checkPools(at + "shape.pools", shape.pools());
    }

    private void checkPools(String field, @Nullable List<@Nullable String> pools) {
        if (pools == null || pools.isEmpty() || pools.size() > MAX_QUOTAS) {
            problems.add(field, "has no pools, or too many", "1 to " + MAX_QUOTAS + " names of pools");
            return;
        }
        for (int i = 0; i < pools.size(); i++) {
            ResourceNames.check(problems, field + "[" + i + "]", pools.get(i));
        }
    }

    private List<NewNodes> readAdded(@Nullable List<@Nullable NewNodes> given) {
        List<NewNodes> added = readList("nodes.added", given, MAX_NODES);
        long nodes = 0;
        for (int i = 0; i < added.size(); i++) {
            NewNodes one = added.get(i);
            String at = "nodes.added[" + i + "].";
            ResourceNames.check(problems, at + "pool", one.pool());
            problems.check(
                    one.gpus() != null && one.gpus() >= 0 && one.gpus() <= MAX_GPUS,
                    at + "gpus",
                    "out of range",
                    "0 to " + MAX_GPUS);
            int count = one.count() == null ? 1 : one.count();
            problems.check(count >= 1 && count <= MAX_NODES, at + "count", "out of range", "1 to " + MAX_NODES);
            nodes += Math.max(0, count);
            checkText(at + "model", one.model(), "1 to 127 letters, digits, spaces and any of . _ / : -");
            checkAmount(at + "gpuMemoryMiB", one.gpuMemoryMiB());
            checkAmount(at + "cpuMilli", one.cpuMilli());
            checkAmount(at + "memoryMiB", one.memoryMiB());
            checkLabels(at + "labels", one.labels());
            List<String> topology = one.topology() == null ? List.of() : one.topology();
            for (int n = 0; n < topology.size(); n++) {
                String field = at + "topology[" + n + "]";
                checkText(field, topology.get(n) == null ? "" : topology.get(n), "the name of a domain");
            }
        }
        problems.check(nodes <= MAX_NODES, "nodes.added", "there are " + nodes, "up to " + MAX_NODES);
        return added;
    }

    private List<String> readNodes(String field, @Nullable List<@Nullable String> names) {
        List<String> known = new ArrayList<>();
        if (names != null) {
            problems.check(names.size() <= MAX_NODES, field, "there are " + names.size(), "up to " + MAX_NODES);
            for (int i = 0; i < names.size(); i++) {
                String name = names.get(i);
                if (name == null || !NODE.matcher(name).matches()) {
                    problems.add(field + "[" + i + "]", "is not a name of a node", "the name of a node");
                } else {
                    known.add(name);
                }
            }
        }
        return known;
    }

    private void checkAmount(String field, @Nullable Long amount) {
        problems.check(
                amount == null || amount >= 0 && amount <= MAX_AMOUNT, field, "out of range", "0 to " + MAX_AMOUNT);
    }

    private void checkText(String field, @Nullable String text, String accepted) {
        problems.check(text == null || TEXT.matcher(text).matches(), field, "not accepted", accepted);
    }

    private void checkLabels(String field, @Nullable Map<String, @Nullable String> labels) {
        if (labels == null) {
            return;
        }
        boolean fine = labels.size() <= MAX_LABELS
                && labels.entrySet().stream()
                        .allMatch(label -> TEXT.matcher(label.getKey()).matches()
                                && label.getValue() != null
                                && TEXT.matcher(label.getValue()).matches());
        problems.check(
                fine, field, "not accepted", "up to " + MAX_LABELS + " labels, keys and values up to 127 characters");
    }
}
