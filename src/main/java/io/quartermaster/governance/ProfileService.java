package io.quartermaster.governance;

import io.quartermaster.access.AuditLog;
import io.quartermaster.capacity.Names;
import io.quartermaster.engine.PoolId;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.Page;
import io.quartermaster.platform.PageRequest;
import io.quartermaster.platform.ProblemException;
import io.quartermaster.platform.Reply;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.TenantTransactions;
import io.quartermaster.platform.WriteParams;
import io.quartermaster.platform.Writes;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** Makes, changes and retires profiles. A change of a shape is checked against every policy that uses it. */
@ApplicationScoped
class ProfileService {

    private static final int MAX_WORKERS = 10_000;
    private static final int MAX_LABELS = 64;
    private static final int MAX_LABEL = 63;
    private static final long MAX_AMOUNT = 1_000_000_000L;
    private static final Duration MAX_RUNTIME = Duration.ofDays(365);

    private final TenantTransactions transactions;
    private final RulesStore store;
    private final RuleWrites writes;

    ProfileService(TenantTransactions transactions, RulesStore store, RuleWrites writes) {
        this.transactions = transactions;
        this.store = store;
        this.writes = writes;
    }

    Uni<Page<ProfileApi.View>> list(TenantId tenant, @Nullable String pool, PageRequest page) {
        return transactions.in(tenant, session -> store.read(session, tenant)).map(rules -> {
            List<ProfileApi.View> views = rules.profiles().stream()
                    .map(profile -> ProfileApi.View.of(rules, profile, null))
                    .filter(view -> pool == null || view.pools().contains(pool))
                    .toList();
            return Pages.of(views, ProfileApi.View::name, tenant + " profiles " + pool, page);
        });
    }

    Uni<Response> get(TenantId tenant, String name) {
        return transactions.in(tenant, session -> store.read(session, tenant)).map(rules -> {
            Profile profile = rules.profile(name).orElseThrow(ProblemException::notFound);
            return Writes.response(Reply.ok(ProfileApi.View.of(rules, profile, null), profile.version()));
        });
    }

    Uni<Response> create(TenantId tenant, ProfileApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        ProfileApi.Request request = RuleWrites.required(body);
        return writes.run(tenant, uri, params, request, work -> {
            Optional<Profile> old = Optional.ofNullable(request.name()).flatMap(work.before()::profile);
            Profile asked = read(work.before(), request, old);
            if (old.isPresent()) {
                if (!isSame(old.get(), asked)) {
                    throw ProblemException.conflict(
                            "already-exists",
                            "there is a profile named " + asked.name() + " with other content; change it with PUT");
                }
                return unchanged(work, old.get());
            }
            TenantRules after = work.before().with(asked);
            requireLevels(after, asked);
            return writes.apply(
                            work, after, new OnWaiting.Refuse(), change("create", work, Optional.empty(), after, asked))
                    .map(effects -> Reply.created(
                            "/v1/tenants/" + tenant + "/profiles/" + asked.name(),
                            ProfileApi.View.of(after, asked, effects),
                            asked.version()));
        });
    }

    Uni<Response> update(
            TenantId tenant, String name, ProfileApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        ProfileApi.Request request = RuleWrites.required(body);
        return writes.run(tenant, uri, params, request, work -> {
            Profile old = work.before().profile(name).orElseThrow(ProblemException::notFound);
            params.requireVersion(old.version());
            Profile asked = read(work.before(), request, Optional.of(old));
            if (isSame(old, asked)) {
                return unchanged(work, old);
            }
            TenantRules after = work.before().with(asked);
            requireLevels(after, asked);
            requireFits(after, asked);
            return writes.apply(
                            work, after, new OnWaiting.Refuse(), change("update", work, Optional.of(old), after, asked))
                    .map(effects -> Reply.ok(ProfileApi.View.of(after, asked, effects), asked.version()));
        });
    }

    /** Its queues are retired with it, in every policy. */
    Uni<Response> retire(TenantId tenant, String name, WriteParams params, UriInfo uri, OnWaiting how) {
        return writes.run(tenant, uri, params, null, work -> {
            Profile old = work.before().profile(name).orElseThrow(ProblemException::notFound);
            if (params.givenVersion().isPresent()) {
                params.requireVersion(old.version());
            }
            AuditLog.Change change = new AuditLog.Change(
                    "profiles:retire", "profiles/" + name, ProfileApi.View.of(work.before(), old, null), null);
            return writes.apply(work, work.before().without(old), how, change).map(Reply::ok);
        });
    }

    private static Uni<Reply> unchanged(RuleWrites.Work work, Profile profile) {
        return Uni.createFrom().item(Reply.ok(ProfileApi.View.of(work.before(), profile, null), profile.version()));
    }

    private static boolean isSame(Profile old, Profile asked) {
        return withVersion(asked, old).equals(old);
    }

    private static Profile withVersion(Profile profile, Profile of) {
        return new Profile(
                of.id(),
                profile.name(),
                profile.gpuMilli(),
                profile.workers(),
                profile.minWorkers(),
                profile.cpuMilli(),
                profile.memoryMiB(),
                profile.nodeLabels(),
                profile.topology(),
                profile.pools(),
                profile.maxRuntimeMillis(),
                of.version());
    }

    private static void requireFits(TenantRules after, Profile profile) {
        var problems = new ProblemException.Invalid();
        for (Queue queue : after.queuesOf(profile)) {
            Policy policy = after.policyOf(queue);
            PolicyChecks.objection(after, policy, profile)
                    .ifPresent(objection -> problems.add(
                            "gpus",
                            "work of policy " + policy.name() + " could never run: " + objection,
                            "a shape and pools that fit the limits of every policy that uses the profile"));
        }
        problems.throwIfAny();
    }

    /** A level that none of its pools has would keep its work waiting for good. */
    private static void requireLevels(TenantRules rules, Profile profile) {
        SortedSet<String> known = new TreeSet<>();
        rules.allotments().stream()
                .filter(one -> profile.pools().contains(one.allotment().pool()))
                .forEach(one -> known.addAll(one.topologyLevels()));
        var problems = new ProblemException.Invalid();
        String accepted = known.isEmpty()
                ? "none: its pools state no levels of topology"
                : "a level of its pools: " + String.join(", ", known);
        Profile.Topology topology = profile.topology();
        problems.check(
                topology.required().map(known::contains).orElse(true),
                "topology.required",
                "none of its pools has such a level",
                accepted);
        problems.check(
                topology.preferred().map(known::contains).orElse(true),
                "topology.preferred",
                "none of its pools has such a level",
                accepted);
        problems.throwIfAny();
    }

    static Profile read(TenantRules rules, ProfileApi.Request request, Optional<Profile> old) {
        var problems = new ProblemException.Invalid();
        String name = old.map(Profile::name).orElseGet(() -> Names.check(problems, "name", request.name()));
        problems.check(
                old.isEmpty() || request.name() == null || request.name().equals(name),
                "name",
                "a profile keeps its name",
                name);
        GpuAmount gpus = request.gpus();
        problems.check(
                gpus != null && Profile.isAmount(gpus.milli()),
                "gpus",
                "is no whole number and no part of one GPU",
                "\"0\", a part such as \"0.25\", or a whole number such as \"8\"");
        int workers = request.workers() == null ? 1 : request.workers();
        int minWorkers = request.minWorkers() == null ? workers : request.minWorkers();
        // Each factor may be fine alone; together they are what the leader has to hold, count and tell.
        long mostWorkers = gpus == null || gpus.milli() == 0
                ? MAX_WORKERS
                : Math.min(MAX_WORKERS, GpuAmount.MAX_MILLI / gpus.milli());
        problems.check(workers >= 1 && workers <= MAX_WORKERS, "workers", "out of range", "1 to " + MAX_WORKERS)
                .check(
                        workers > MAX_WORKERS || workers <= mostWorkers,
                        "workers",
                        "they would have more than " + new GpuAmount(GpuAmount.MAX_MILLI) + " GPUs together",
                        "with so many GPUs each: 1 to " + mostWorkers)
                .check(minWorkers >= 1 && minWorkers <= workers, "minWorkers", "out of range", "1 to workers");
        long cpuMilli = amount(problems, "cpuMilli", request.cpuMilli());
        long memoryMiB = amount(problems, "memoryMiB", request.memoryMiB());
        problems.check(
                gpus == null || gpus.milli() > 0 || cpuMilli > 0 || memoryMiB > 0,
                "cpuMilli",
                "work without GPUs that asks for no CPU and no memory either would fill a node without end",
                "1 or more, or a memoryMiB of 1 or more");
        Map<String, String> labels = labels(problems, request.nodeLabels());
        List<PoolId> pools = new PolicyReader(rules, problems).pools(request.pools());
        OptionalLong maxRuntime = maxRuntime(problems, request.maxRuntime());
        problems.throwIfAny();
        return new Profile(
                old.map(Profile::id).orElseGet(Ids::next),
                name,
                gpus == null ? 0 : gpus.milli(),
                workers,
                minWorkers,
                cpuMilli,
                memoryMiB,
                new TreeMap<>(labels),
                request.topology() == null
                        ? Profile.Topology.ANY
                        : request.topology().levels(),
                pools,
                maxRuntime,
                old.map(profile -> profile.version() + 1).orElse(0L));
    }

    private static long amount(ProblemException.Invalid problems, String field, @Nullable Long given) {
        long amount = given == null ? 0 : given;
        problems.check(amount >= 0 && amount <= MAX_AMOUNT, field, "out of range", "0 to " + MAX_AMOUNT);
        return amount;
    }

    private static Map<String, String> labels(ProblemException.Invalid problems, @Nullable Map<String, String> given) {
        Map<String, String> labels = given == null ? Map.of() : given;
        boolean fine = labels.size() <= MAX_LABELS
                && labels.entrySet().stream()
                        .allMatch(label -> isLabel(label.getKey())
                                && label.getValue() != null
                                && label.getValue().length() <= MAX_LABEL);
        problems.check(
                fine,
                "nodeLabels",
                "not accepted",
                "at most " + MAX_LABELS + " labels of at most " + MAX_LABEL + " characters");
        return fine ? labels : Map.of();
    }

    private static boolean isLabel(String text) {
        return !text.isBlank() && text.length() <= MAX_LABEL;
    }

    private static OptionalLong maxRuntime(ProblemException.Invalid problems, @Nullable Duration given) {
        if (given == null) {
            return OptionalLong.empty();
        }
        boolean fine = given.toMillis() > 0 && given.compareTo(MAX_RUNTIME) <= 0;
        problems.check(fine, "maxRuntime", "out of range", "more than PT0S, at most " + MAX_RUNTIME);
        return fine ? OptionalLong.of(given.toMillis()) : OptionalLong.empty();
    }

    private static AuditLog.Change change(
            String verb, RuleWrites.Work work, Optional<Profile> old, TenantRules after, Profile now) {
        return new AuditLog.Change(
                "profiles:" + verb,
                "profiles/" + now.name(),
                old.map(profile -> ProfileApi.View.of(work.before(), profile, null))
                        .orElse(null),
                ProfileApi.View.of(after, now, null));
    }
}
