package io.quartermaster.tenancy;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItems;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.vertx.VertxContextSupport;
import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.access.keycloak.KeycloakFailure;
import io.quartermaster.access.keycloak.KeycloakRealm;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.operations.OperationStore;
import io.quartermaster.tenancy.groups.GroupCreation;
import io.quartermaster.tenancy.groups.TenantGroups;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The names that groups may have, and the treatment of all others. */
@QuarkusTest
class GroupNamesIT {

    private static final String A = "group-names-a";
    private static final String TENANT = "/v1/tenants/" + A;
    private static final String TOO_LONG = "x".repeat(256);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @Inject
    SystemDatabase database;

    @Inject
    KeycloakAdmin keycloak;

    @Inject
    TenantGroups groups;

    @Inject
    GroupCreation creation;

    @Inject
    OperationStore operations;

    @Inject
    ProvisionTenant provisioning;

    @BeforeAll
    static void aTenant() {
        TestTenants.provision(A);
        request(operatorToken())
                .body(Map.of("name", "group-names", "capacity", "8"))
                .post("/v1/operator/pools")
                .then()
                .statusCode(201);
        request(operatorToken())
                .body(Map.of("reserved", "4"))
                .put("/v1/operator/tenants/" + A + "/allotments/group-names")
                .then()
                .statusCode(201);
    }

    @Test
    void groupsAreFoundByNamesOfEveryCharacter() throws Throwable {
        Set<GroupPath> paths = Stream.concat(
                        IntStream.range(0x20, 0x7f).filter(c -> c != '/').mapToObj(c -> "x" + (char) c + "y"),
                        Stream.of(
                                "~",
                                "%2e",
                                "%2F",
                                "a;b=c",
                                "\u00e9",
                                "e\u0301",
                                "\u4e2d",
                                "\ud83d\ude00",
                                "a\u200db",
                                "\u0130"))
                .map(name -> new GroupPath("/every/" + name))
                .collect(Collectors.toSet());
        keycloak.call(client -> {
                    paths.forEach(path -> RealmAdmin.ensureGroup(client.realm(A), path));
                    return A;
                })
                .await()
                .atMost(PATIENCE);

        TenantGroups.Presence presence =
                VertxContextSupport.subscribeAndAwait(() -> groups.presence(new TenantId(A), paths));
        GroupList all = VertxContextSupport.subscribeAndAwait(() -> groups.list(new TenantId(A)));

        assertThat(presence.present()).isEqualTo(paths);
        assertThat(presence.missing()).isEmpty();
        assertThat(all.paths()).containsAll(paths).doesNotHaveDuplicates();
        keycloak.call(client -> {
                    client.realm(A)
                            .removeGroup(client.realm(A)
                                    .group(new GroupPath("/every"))
                                    .orElseThrow()
                                    .getId());
                    return A;
                })
                .await()
                .atMost(PATIENCE);
    }

    @Test
    void aTildeInANameStopsNothing() {
        String admin = adminToken(A);
        request(admin)
                .body(Map.of("name", "tilde", "gpus", "1", "pools", List.of("group-names")))
                .post(TENANT + "/profiles")
                .then()
                .statusCode(201);
        request(admin)
                .body(Map.of(
                        "name",
                        "tilde",
                        "group",
                        "/x~y",
                        "quotas",
                        List.of(Map.of("pool", "group-names", "reserved", "1")),
                        "profiles",
                        List.of("tilde")))
                .post(TENANT + "/policies")
                .then()
                .statusCode(201)
                .body("effects.warnings", hasItems(containsString("the realm has no group /x~y")))
                .body("warnings", hasItems(containsString("the realm has no group /x~y")));
        request(admin).post(TENANT + "/drift-checks").then().statusCode(200).body("suspended", contains("tilde"));
        request(admin)
                .body(Map.of("subjectKind", "group", "subject", "/x~z"))
                .post(TENANT + "/queues/tilde-tilde/access-rules")
                .then()
                .statusCode(201)
                .body("warnings", hasItems(containsString("the realm has no group /x~z")));

        request(admin)
                .body(Map.of("path", "/x~y"))
                .post(TENANT + "/groups")
                .then()
                .statusCode(201);

        request(admin)
                .queryParam("path", "/x~y")
                .get(TENANT + "/groups")
                .then()
                .statusCode(200)
                .body("items.path", contains("/x~y"))
                .body("truncated", equalTo(false));
        request(admin).post(TENANT + "/drift-checks").then().statusCode(200).body("resumed", contains("tilde"));
    }

    /** A name as an older version stored it, or that another Keycloak refuses to look up. */
    @Test
    void oneOddPathLeavesTheAnswersForTheOthers() throws Throwable {
        GroupPath odd = new GroupPath("/a\u0000b");
        GroupPath rnd = new GroupPath("/rnd");
        GroupPath none = new GroupPath("/none");

        TenantGroups.Presence presence = VertxContextSupport.subscribeAndAwait(
                () -> groups.presence(new TenantId(A), Set.of(odd, rnd, none, new GroupPath("/" + TOO_LONG))));

        assertThat(presence.present()).containsExactly(rnd);
        assertThat(presence.missing()).containsExactlyInAnyOrder(none, new GroupPath("/" + TOO_LONG));
    }

    @Test
    void oneOddPathAfterManyOthersLeavesTheirAnswers() throws Throwable {
        GroupPath odd = new GroupPath("/zz\u0000b");
        Set<GroupPath> asked = IntStream.range(0, 50)
                .mapToObj(i -> new GroupPath("/absent-" + i))
                .collect(Collectors.toSet());
        Set<GroupPath> absent = Set.copyOf(asked);
        asked.add(odd);

        TenantGroups.Presence presence =
                VertxContextSupport.subscribeAndAwait(() -> groups.presence(new TenantId(A), asked));

        assertThat(presence.missing()).isEqualTo(absent);
        assertThatThrownBy(() ->
                        VertxContextSupport.subscribeAndAwait(() -> groups.presence(new TenantId(A), Set.of(odd))))
                .isInstanceOf(KeycloakFailure.class);
    }

    @Test
    void groupWithSubgroupsOfAnotherRequestStays() {
        GroupPath top = new GroupPath("/shared-top");
        GroupPath mine = new GroupPath("/shared-top/mine");
        GroupPath others = new GroupPath("/shared-top/others");
        Set<GroupPath> kept = keycloak.call(client -> {
                    KeycloakRealm realm = client.realm(A);
                    List<RealmAdmin.CreatedGroup> made = List.of(
                            new RealmAdmin.CreatedGroup(mine, RealmAdmin.ensureGroup(realm, mine)),
                            new RealmAdmin.CreatedGroup(
                                    top, realm.group(top).orElseThrow().getId()));
                    RealmAdmin.ensureGroup(realm, others);
                    return RealmAdmin.removeEmpty(realm, made, refusal(realm));
                })
                .await()
                .atMost(PATIENCE);

        assertThat(kept).containsExactly(top);
        assertNoGroup(mine.value());
    }

    /** Keycloak does not look up an id that holds a NUL. */
    @Test
    void removalThatFailsHidesNoRefusalAndStopsNoOther() {
        GroupPath odd = new GroupPath("/odd");
        GroupPath mine = new GroupPath("/removed-after-odd");
        KeycloakFailure refusal = keycloak.call(client -> {
                    KeycloakRealm realm = client.realm(A);
                    KeycloakFailure first = refusal(realm);
                    Set<GroupPath> kept = RealmAdmin.removeEmpty(
                            realm,
                            List.of(
                                    new RealmAdmin.CreatedGroup(odd, "a\u0000b"),
                                    new RealmAdmin.CreatedGroup(mine, RealmAdmin.ensureGroup(realm, mine))),
                            first);
                    assertThat(kept).containsExactly(odd);
                    return first;
                })
                .await()
                .atMost(PATIENCE);

        assertThat(refusal.getSuppressed()).hasSize(1);
        assertNoGroup(mine.value());
    }

    private static KeycloakFailure refusal(KeycloakRealm realm) {
        return Optional.ofNullable(RealmAdmin.ensureGroupOrNone(realm, new GroupPath("/" + TOO_LONG))
                        .refusal())
                .orElseThrow();
    }

    @Test
    void aStepThatKeycloakCannotStoreIsRefusedBeforeAnythingIsMade() {
        String admin = adminToken(A);
        for (boolean dryRun : new boolean[] {true, false}) {
            request(admin)
                    .queryParam("dryRun", dryRun)
                    .body(Map.of("path", "/part/" + TOO_LONG))
                    .post(TENANT + "/groups")
                    .then()
                    .statusCode(400)
                    .body("errors.field", contains("path"))
                    .body("errors[0].message", containsString("256 characters"))
                    .body("errors[0].accepted", containsString("255"));
        }
        assertNoGroup("/part");
        request(admin)
                .queryParam("resource", "groups/part")
                .get(TENANT + "/audit-entries")
                .then()
                .body("items", empty());
        request(admin)
                .body(Map.of("name", "long", "group", "/" + TOO_LONG))
                .post(TENANT + "/policies")
                .then()
                .statusCode(400)
                .body("errors.field", contains("group"))
                .body("errors[0].accepted", containsString("255"));
        for (boolean dryRun : new boolean[] {true, false}) {
            request(operatorToken())
                    .queryParam("dryRun", dryRun)
                    .body(Map.of("id", "group-names-b", "plan", "demo", "groups", List.of("/ok", "/" + TOO_LONG)))
                    .post("/v1/operator/tenants")
                    .then()
                    .statusCode(400)
                    .body("errors.field", contains("groups[1]"))
                    .body("errors[0].message", containsString("256 characters"));
        }
    }

    /** Bypasses the check of requests, as if another Keycloak refused a name that this service accepts. */
    @Test
    void whatKeycloakRefusesLeavesNoPartAndIsAuditedAsFailed() {
        GroupPath path = new GroupPath("/half/done/" + TOO_LONG);

        assertThatThrownBy(() -> VertxContextSupport.subscribeAndAwait(
                        () -> creation.create(new TenantId(A), Caller.service(), path, WriteMode.COMMIT)))
                .isInstanceOfSatisfying(KeycloakFailure.class, failure -> assertThat(failure.isUnavailable())
                        .isFalse());

        assertNoGroup("/half");
        for (String action : List.of("groups:create", "groups:create-failed")) {
            request(adminToken(A))
                    .queryParam("resource", "groups/half")
                    .queryParam("action", action)
                    .get(TENANT + "/audit-entries")
                    .then()
                    .statusCode(200)
                    .body("items.resource", containsInAnyOrder("groups/half", "groups/half/done", "groups" + path));
        }
    }

    @Test
    void aTenantWhoseProvisioningKeycloakRefusesIsTriedEverLessOftenAndCanBeOffboarded() {
        String id = "group-names-stuck";
        TenantSpec spec = new TenantSpec(new TenantId(id), "Stuck", "demo", List.of(new GroupPath("/" + TOO_LONG)));
        String operation = database.in(connection -> connection
                        .preparedQuery("insert into tenant (id, display_name, plan, realm, issuer, state) values ($1, "
                                + "$1, 'demo', $1, $2, 'provisioning')")
                        .execute(Tuple.of(id, "https://issuer.test/" + id))
                        .chain(() -> operations.insert(
                                connection, spec.id(), ProvisionTenant.KIND, spec, provisioning.steps())))
                .await()
                .atMost(PATIENCE)
                .id()
                .toString();
        Awaitility.await()
                .atMost(PATIENCE)
                .until(() -> request(operatorToken())
                                .get("/v1/operator/operations/" + operation)
                                .<Integer>path("attempts")
                        >= 2);
        request(operatorToken())
                .get("/v1/operator/operations/" + operation)
                .then()
                .body("error.step", equalTo("identities"))
                .body("error.message", containsString("Keycloak answered 500"));

        String leaving = request(operatorToken())
                .delete("/v1/operator/tenants/" + id)
                .then()
                .statusCode(202)
                .extract()
                .path("id");

        TestTenants.awaitState(leaving, "succeeded");
        request(operatorToken()).get("/v1/operator/tenants/" + id).then().body("state", equalTo("deleted"));
        request(operatorToken())
                .get("/v1/operator/operations/" + operation)
                .then()
                .body("state", equalTo("failed"))
                .body("error.message", equalTo("the tenant was offboarded before its provisioning ended"));
        boolean realm =
                keycloak.call(client -> client.realm(id).exists()).await().atMost(PATIENCE);
        assertThat(realm).isFalse();
    }

    @Test
    void requestsForAllGroupsOfATenantAtTheSameTimeShareTheirAnswer() throws Exception {
        List<CompletableFuture<GroupList>> asked = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            asked.add(groups.list(new TenantId(A)).subscribeAsCompletionStage());
        }
        Set<GroupList> different = Collections.newSetFromMap(new IdentityHashMap<>());
        for (CompletableFuture<GroupList> one : asked) {
            different.add(one.get(60, TimeUnit.SECONDS));
        }

        assertThat(different).hasSizeLessThan(10);
        assertThat(different).allSatisfy(list -> assertThat(list.paths()).contains(new GroupPath("/rnd")));
    }

    @Test
    void aListThatIsCutSaysSo() {
        GroupList cut = keycloak.call(client -> RealmAdmin.groups(client.realm(A), 1))
                .await()
                .atMost(PATIENCE);
        GroupList whole = keycloak.call(client -> RealmAdmin.groups(client.realm(A), 1000))
                .await()
                .atMost(PATIENCE);

        assertThat(cut.paths()).hasSize(1);
        assertThat(cut.truncated()).isTrue();
        assertThat(whole.truncated()).isFalse();
        GroupList exact = keycloak.call(client ->
                        RealmAdmin.groups(client.realm(A), whole.paths().size()))
                .await()
                .atMost(PATIENCE);
        assertThat(exact.truncated()).isFalse();
    }

    private static void assertNoGroup(String path) {
        request(adminToken(A))
                .queryParam("path", path)
                .get(TENANT + "/groups")
                .then()
                .statusCode(200)
                .body("items", empty());
    }
}
