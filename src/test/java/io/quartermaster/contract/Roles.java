package io.quartermaster.contract;

import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;

import io.quartermaster.access.Role;
import io.quartermaster.tenancy.TestTenants;
import io.restassured.response.Response;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Real tokens for every role: people in the tenant's realm, the operator's automation, a node's agent. */
final class Roles {

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
                TestTenants.personToken(world.tenant(), "the-" + role.word(), List.of(role.word()), List.of("/rnd"));
        };
    }

    /** A token of a user of the realm without any role or group. */
    static String tokenWithoutRole(World world) {
        return TestTenants.personToken(world.tenant(), "the-newcomer", List.of(), List.of());
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
}
