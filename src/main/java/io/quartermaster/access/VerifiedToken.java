package io.quartermaster.access;

import io.quarkus.oidc.runtime.OidcUtils;
import io.quarkus.security.AuthenticationFailedException;
import io.quarkus.security.identity.SecurityIdentity;
import io.quartermaster.platform.TenantId;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.eclipse.microprofile.jwt.JsonWebToken;
import org.jspecify.annotations.Nullable;

/** Reads the caller from a token whose signature, issuer, audience and times have been checked. */
final class VerifiedToken {

    private VerifiedToken() {}

    static Caller caller(SecurityIdentity identity, String requestId) {
        if (!(identity.getPrincipal() instanceof JsonWebToken token)) {
            throw new AuthenticationFailedException("not a JSON web token");
        }
        Realm realm = realm(identity);
        Set<GroupPath> groups = groups(token);
        String username = requiredClaim(token, "preferred_username");
        // Keycloak sets this claim for service accounts only; azp would name the portal of a person too.
        Optional<String> clientId =
                text(token, "client_id").filter(client -> username.equals(Caller.SERVICE_ACCOUNT_PREFIX + client));
        return new Caller(
                realm,
                requiredClaim(token, "sub"),
                username,
                roles(realm, identity.getRoles(), groups),
                groups,
                clientId,
                realm instanceof Realm.Operator ? text(token, "node") : Optional.empty(),
                requestId);
    }

    /** The issuer of the token, which the verification has compared with that of the realm. */
    static String issuer(SecurityIdentity identity) {
        return identity.getPrincipal() instanceof JsonWebToken token ? token.getIssuer() : "";
    }

    /** The expiry of the token. A token without one was refused before. */
    static Instant expiry(SecurityIdentity identity) {
        return identity.getPrincipal() instanceof JsonWebToken token
                ? Instant.ofEpochSecond(token.getExpirationTime())
                : Instant.MIN;
    }

    /** The token's time of issue; the earliest possible time if it states none. */
    static Instant issuedAt(SecurityIdentity identity) {
        return identity.getPrincipal() instanceof JsonWebToken token
                ? Instant.ofEpochSecond(token.getIssuedAtTime())
                : Instant.EPOCH;
    }

    /** The realm whose keys verified the token, whatever realm the token itself names. */
    private static Realm realm(SecurityIdentity identity) {
        String realm = identity.getAttribute(OidcUtils.TENANT_ID_ATTRIBUTE);
        return realm.equals(Realm.OPERATOR_NAME) ? new Realm.Operator() : new Realm.Tenant(new TenantId(realm));
    }

    /**
     * The roles of a caller. A caller in a group of the tenant without a role is a member, so that adding a new person
     * to a group is enough. A caller with a role has just that role.
     */
    private static Set<Role> roles(Realm realm, Set<String> names, Set<GroupPath> groups) {
        Set<Role> roles = EnumSet.noneOf(Role.class);
        for (String name : names) {
            Role.of(realm, name).ifPresent(roles::add);
        }
        if (roles.isEmpty() && realm instanceof Realm.Tenant && !groups.isEmpty()) {
            roles.add(Role.MEMBER);
        }
        return roles;
    }

    private static Set<GroupPath> groups(JsonWebToken token) {
        Set<GroupPath> groups = new HashSet<>();
        Set<String> paths = token.getGroups();
        if (paths != null) {
            paths.stream().filter(GroupPath::isValid).map(GroupPath::new).forEach(groups::add);
        }
        return groups;
    }

    private static String requiredClaim(JsonWebToken token, String claim) {
        return text(token, claim)
                .orElseThrow(() -> new AuthenticationFailedException("the token has no claim " + claim));
    }

    private static Optional<String> text(JsonWebToken token, String claim) {
        @Nullable Object value = token.getClaim(claim);
        return value == null ? Optional.empty() : Optional.of(value.toString());
    }
}
