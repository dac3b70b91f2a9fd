package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.arc.Arc;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A tenant with a resource for every id that a route takes, and the operator's resources that it needs. A and B share
 * cluster, pool and node, as tenants of one provider do; all other resources are their own and have different names.
 *
 * @param ids the ids, by the name of the path parameter
 */
record World(String tenant, Map<String, String> ids) {

    private static final String POOL = "contract-pool";
    private static final String CLUSTER = "contract-cluster";
    private static final String NODE = "contract-node";
    private static final Pattern PLACE = Pattern.compile("\\{([A-Za-z]+)}");
    private static @Nullable Both both;

    /** The two tenants that always exist. */
    record Both(World a, World b) {}

    World {
        ids = Map.copyOf(ids);
    }

    /** Creates both through the API on the first call; real realms take seconds. */
    static synchronized Both both() {
        Both known = both;
        if (known == null) {
            shared();
            TestTenants.provision("contract-a", "contract-b");
            known = new Both(make("contract-a"), make("contract-b"));
            both = known;
        }
        return known;
    }

    /** The ids of a tenant that does not exist, in the form of this tenant's. */
    World neverThere() {
        Map<String, String> other = new TreeMap<>();
        ids.forEach((name, id) -> other.put(name, isUuid(id) ? UUID.randomUUID().toString() : "never-" + name));
        other.put("tenant", "contract-nobody");
        return new World("contract-nobody", other);
    }

    /** This tenant's path, with another tenant's ids below it. */
    World reachingFor(World other) {
        Map<String, String> mixed = new TreeMap<>(other.ids);
        mixed.put("tenant", tenant);
        return new World(tenant, mixed);
    }

    /** Fills ids into a path or a body. A placeholder without an id is a gap in these fixtures and fails the test. */
    String fill(String template) {
        Matcher matcher = PLACE.matcher(template);
        return matcher.replaceAll(place -> {
            String id = ids.get(place.group(1));
            assertThat(id)
                    .as("an id for {%s} in %s: the fixtures of the generated tests lack one", place.group(1), template)
                    .isNotNull();
            return Matcher.quoteReplacement(id);
        });
    }

    private static void shared() {
        ensure(operator()
                .body(Map.of("name", CLUSTER, "kind", "agent", "region", "eu-central"))
                .post("/v1/operator/clusters"));
        ensure(operator().body(Map.of("name", POOL)).post("/v1/operator/pools"));
        ensure(operator()
                .body(Map.of("name", NODE, "cluster", CLUSTER, "pool", POOL))
                .post("/v1/operator/nodes"));
    }

    /** A completed audit of the operator. */
    private static String audit(String tenant) {
        String id = ensure(operator().body(Map.of("tenant", tenant)).post("/v1/operator/audits"))
                .path("id");
        TestTenants.awaitState(id, "succeeded");
        return id;
    }

    private static World make(String tenant) {
        String own = "/v1/tenants/" + tenant;
        String profile = tenant + "-profile";
        String policy = tenant + "-policy";
        String queue = policy + "-" + profile;
        String operation = operator()
                .body(Map.of("id", tenant, "plan", "demo", "displayName", "Tenant " + tenant))
                .post("/v1/operator/tenants")
                .path("id");
        ensure(operator()
                .body(Map.of("reserved", "4", "limit", "8"))
                .put("/v1/operator/tenants/" + tenant + "/allotments/" + POOL));
        ensure(admin(tenant)
                .body(Map.of("name", profile, "gpus", "1", "pools", List.of(POOL)))
                .post(own + "/profiles"));
        String spareProfile = tenant + "-spare-profile";
        ensure(admin(tenant)
                .body(Map.of("name", spareProfile, "gpus", "1", "pools", List.of(POOL)))
                .post(own + "/profiles"));
        ensure(admin(tenant)
                .body(Map.of(
                        "name",
                        policy,
                        "group",
                        "/rnd",
                        "quotas",
                        List.of(Map.of("pool", POOL, "reserved", "2", "limit", "4")),
                        "profiles",
                        List.of(profile)))
                .post(own + "/policies"));
        String rule = ensure(admin(tenant)
                        .body(Map.of("subjectKind", "everyone"))
                        .post(own + "/queues/" + queue + "/access-rules"))
                .path("id");
        String reservation = ensure(admin(tenant)
                        .body(Map.of(
                                "policy",
                                policy,
                                "pool",
                                POOL,
                                "gpus",
                                "1",
                                "startsAt",
                                Instant.now().plus(Duration.ofDays(1)).toString(),
                                "endsAt",
                                Instant.now().plus(Duration.ofDays(2)).toString()))
                        .post(own + "/capacity-reservations"))
                .path("id");
        String workload = ensure(admin(tenant)
                        .header("Idempotency-Key", "the-one")
                        .body(Map.of(
                                "queue",
                                queue,
                                "name",
                                tenant + "-work",
                                "type",
                                "training",
                                "command",
                                List.of("true"),
                                "hold",
                                true))
                        .post(own + "/workloads"))
                .path("id");
        return new World(
                tenant,
                Map.ofEntries(
                        Map.entry("tenant", tenant),
                        Map.entry("cluster", CLUSTER),
                        Map.entry("pool", POOL),
                        Map.entry("node", NODE),
                        Map.entry("operation", operation),
                        Map.entry("profile", profile),
                        Map.entry("spareProfile", spareProfile),
                        Map.entry("policy", policy),
                        Map.entry("queue", queue),
                        Map.entry("rule", rule),
                        Map.entry("capacityReservation", reservation),
                        Map.entry("workload", workload),
                        Map.entry("person", person(tenant)),
                        Map.entry("plan", "demo"),
                        Map.entry("cell", "main"),
                        Map.entry("quarantineEntry", quarantineEntry()),
                        Map.entry("audit", audit(tenant))));
    }

    /** A person of the demonstration. */
    private static String person(String tenant) {
        return admin(tenant)
                .queryParam("search", "rnd-member")
                .get("/v1/tenants/" + tenant + "/people")
                .path("items[0].id");
    }

    /** Inserts a quarantine entry, since no call creates one. */
    private static String quarantineEntry() {
        return "inbox-row-"
                + Arc.container().instance(SystemDatabase.class).get().run(Duration.ofSeconds(10), tx -> tx.run(
                                "insert into inbox (kind, ref, set_aside_at, set_aside_why) values ('pool', "
                                        + "'contract', clock_timestamp(), 'a test') returning id")
                        .iterator()
                        .next()
                        .getLong("id"));
    }

    private static RequestSpecification operator() {
        return request(operatorToken());
    }

    private static RequestSpecification admin(String tenant) {
        return request(adminToken(tenant));
    }

    private static Response ensure(Response response) {
        assertThat(response.statusCode())
                .as("a fixture is made: %s", response.asString())
                .isIn(200, 201, 202);
        return response;
    }

    private static boolean isUuid(String text) {
        return text.matches("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
    }
}
