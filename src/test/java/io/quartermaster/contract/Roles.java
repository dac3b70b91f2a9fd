package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;

import io.quartermaster.access.Role;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.Identity;
import io.restassured.response.Response;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Real tokens for every role: people in the tenant's realm, the operator's automation, a node's agent. */
final class Roles {

    private static final String PASSWORD = "password-of-the-tests";

    /** Keycloak's tokens live five minutes; a busy machine needs a good part of that for one round of calls. */
    private static final long RENEW_AFTER_NANOS = Duration.ofMinutes(2).toNanos();

    private static final Map<String, Kept> KEPT = new ConcurrentHashMap<>();

    private record Kept(String token, long atNanos) {
        boolean isFresh() {
            return System.nanoTime() - atNanos < RENEW_AFTER_NANOS;
        }
    }

    private Roles() {}

    static String admin(World world) {
        return token(Role.TENANT_ADMIN, world);
    }

    static String token(Role role, World world) {
        return KEPT.compute(
                        role + " of " + world.tenant(),
                        (key, kept) -> kept != null && kept.isFresh()
                                ? kept
                                : new Kept(newToken(role, world), System.nanoTime()))
                .token();
    }

    private static String newToken(Role role, World world) {
        return switch (role) {
            case OPERATOR -> operatorToken();
            case AGENT -> agentToken(world);
            case TENANT_ADMIN -> TestTenants.adminToken(world.tenant());
            case TENANT_AUTOMATION, GROUP_ADMIN, MEMBER, VIEWER, BILLING_READER ->
                person(world.tenant(), "the-" + role.word(), List.of(role.word()), List.of("/rnd"));
        };
    }

    /** Of somebody in the realm who was granted nothing and is in no group. */
    static String tokenWithoutRole(World world) {
        return person(world.tenant(), "the-newcomer", List.of(), List.of());
    }

    private static String agentToken(World world) {
        Response credential = request(operatorToken())
                .post(world.fill("/v1/operator/nodes/{node}/credential"))
                .then()
                .statusCode(201)
                .extract()
                .response();
        return TestTenants.clientToken("operator", credential.path("clientId"), credential.path("clientSecret"));
    }

    private static String person(String realm, String username, List<String> roles, List<String> groups) {
        String users = "/admin/realms/" + realm + "/users";
        Identity.admin()
                .body(Map.of(
                        "username",
                        username,
                        "enabled",
                        true,
                        "firstName",
                        "The",
                        "lastName",
                        username,
                        "email",
                        username + "@" + realm + ".test",
                        "emailVerified",
                        true,
                        "groups",
                        groups,
                        "credentials",
                        List.of(Map.of("type", "password", "value", PASSWORD, "temporary", false))))
                .post(users);
        String id = Identity.admin()
                .queryParam("username", username)
                .queryParam("exact", true)
                .get(users)
                .then()
                .statusCode(200)
                .extract()
                .path("[0].id");
        for (String role : roles) {
            Map<?, ?> known = Identity.admin()
                    .get("/admin/realms/" + realm + "/roles/" + role)
                    .as(Map.class);
            Identity.admin()
                    .body(List.of(known))
                    .post(users + "/" + id + "/role-mappings/realm")
                    .then()
                    .statusCode(204);
        }
        return TestTenants.userToken(realm, username, PASSWORD);
    }
}
