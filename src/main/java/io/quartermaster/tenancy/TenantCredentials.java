package io.quartermaster.tenancy;

import io.quartermaster.access.Caller;
import io.quartermaster.access.IdentityConfig;
import io.quartermaster.access.Role;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.access.keycloak.KeycloakAdmin;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.WriteMode;
import io.quartermaster.platform.http.PrintableText;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.net.URI;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Issues the credentials that the operator gives to a new tenant: a first admin, and the secret of the tenant's own
 * automation. Each secret is shown once and stored only in Keycloak; a repeated request replaces it.
 */
@ApplicationScoped
class TenantCredentials {

    static final String AUTOMATION_CLIENT = "automation";
    private static final int PASSWORD_BYTES = 18;
    private static final int MAX_LENGTH = 254;
    private static final Pattern USERNAME = Pattern.compile("[a-z0-9][a-z0-9._@-]{2,253}");
    private static final Pattern EMAIL = Pattern.compile("[^\\s\\p{Cntrl}@]+@[^\\s\\p{Cntrl}@]+");

    /** A request for an admin. */
    @Schema(name = "TenantAdminRequest")
    public record NewAdmin(
            @Schema(required = true, examples = "jo-example") @Nullable
            String username,

            @Schema(required = true, examples = "jo@example.com") @Nullable
            String email,

            @Schema(description = "absent: asked for at the first login") @Nullable
            String firstName,

            @Schema(description = "absent: asked for at the first login") @Nullable
            String lastName) {}

    /** The credentials for an admin's first login. */
    @Schema(name = "TenantAdmin")
    public record FirstLogin(
            String username,

            @Schema(description = "valid for one login, at which it must be replaced; shown once")
            String temporaryPassword,

            @Schema(description = "URL at which the admin can log in and set a password")
            URI loginUrl) {

        Map<String, Object> withoutSecret() {
            return Map.of("username", username, "loginUrl", loginUrl);
        }

        @Override
        public String toString() {
            return "first login of " + username;
        }
    }

    /** The credentials with which a service account gets its tokens. */
    @Schema(name = "ClientSecret")
    public record ClientSecret(
            String clientId,
            @Schema(description = "told once") String clientSecret,
            URI tokenUrl) {

        Map<String, Object> withoutSecret() {
            return Map.of("clientId", clientId, "tokenUrl", tokenUrl);
        }

        @Override
        public String toString() {
            return "secret of " + clientId;
        }
    }

    record Admin(String username, String email) {}

    private final SystemDatabase database;
    private final TenantStore tenants;
    private final KeycloakAdmin admin;
    private final IdentityConfig identity;
    private final AuditLog audit;
    private final SecureRandom random = new SecureRandom();

    TenantCredentials(
            SystemDatabase database,
            TenantStore tenants,
            KeycloakAdmin admin,
            IdentityConfig identity,
            AuditLog audit) {
        this.database = database;
        this.tenants = tenants;
        this.admin = admin;
        this.identity = identity;
        this.audit = audit;
    }

    static NewAdmin validate(@Nullable NewAdmin wanted) {
        if (wanted == null) {
            throw ProblemException.invalid("body", "is missing", "an admin: username, email");
        }
        String username = wanted.username() == null ? "" : wanted.username();
        String email = wanted.email() == null ? "" : wanted.email();
        new ProblemException.Invalid()
                .check(
                        USERNAME.matcher(username).matches() && !username.startsWith(Caller.SERVICE_ACCOUNT_PREFIX),
                        "username",
                        "not a valid username",
                        "3 to 254 lower-case letters, digits, dots, dashes, underlines and @, a letter or digit first;"
                                + " not service-account- first")
                .check(
                        email.length() <= MAX_LENGTH && EMAIL.matcher(email).matches(),
                        "email",
                        "not an email address",
                        "an email address such as jo@example.com")
                .check(
                        isName(wanted.firstName()),
                        "firstName",
                        "no name",
                        "at most " + MAX_LENGTH + " printable characters")
                .check(
                        isName(wanted.lastName()),
                        "lastName",
                        "no name",
                        "at most " + MAX_LENGTH + " printable characters")
                .throwIfAny();
        return wanted;
    }

    private static boolean isName(@Nullable String name) {
        return name == null || !name.isBlank() && name.length() <= MAX_LENGTH && PrintableText.isPrintable(name);
    }

    /**
     * Creates an admin. Fails (409) if a user of that name has logged in before: a password that a user has set is
     * never replaced. The audit entry commits before the call to Keycloak, so that no password is set without an entry.
     */
    Uni<FirstLogin> admin(Caller caller, TenantId tenant, NewAdmin wanted, WriteMode mode) {
        String username = String.valueOf(wanted.username());
        String password = newPassword();
        Admin made = new Admin(username, String.valueOf(wanted.email()));
        return requireUsable(tenant)
                .chain(() -> firstLogin(tenant, wanted, password, WriteMode.DRY_RUN))
                .chain(() -> record(caller, tenant, "users/" + username, made, mode))
                .chain(() -> firstLogin(tenant, wanted, password, mode))
                .replaceWith(() ->
                        new FirstLogin(username, password, URI.create(identity.issuerOf(tenant.value()) + "/account")));
    }

    private Uni<Void> firstLogin(TenantId tenant, NewAdmin wanted, String password, WriteMode mode) {
        return admin.call(keycloak -> RealmAdmin.firstLogin(
                        keycloak.realm(tenant.value()), wanted, Role.TENANT_ADMIN.word(), password, mode))
                .invoke(done -> {
                    if (!done) {
                        throw ProblemException.conflict(
                                "user-exists",
                                "there is a user " + wanted.username() + " that has set a password already");
                    }
                })
                .replaceWithVoid();
    }

    /**
     * Replaces the secret of the automation. The old secret gets no tokens from then on; its last tokens expire within
     * minutes. Audited as {@link #admin} is.
     */
    Uni<ClientSecret> automation(Caller caller, TenantId tenant, WriteMode mode) {
        return requireUsable(tenant)
                .chain(() -> newSecret(tenant, WriteMode.DRY_RUN))
                .chain(() -> record(caller, tenant, "clients/" + AUTOMATION_CLIENT, null, mode))
                .chain(() -> newSecret(tenant, mode))
                .map(secret -> new ClientSecret(
                        AUTOMATION_CLIENT,
                        secret,
                        URI.create(identity.issuerOf(tenant.value()) + "/protocol/openid-connect/token")));
    }

    private Uni<String> newSecret(TenantId tenant, WriteMode mode) {
        return admin.call(keycloak -> RealmAdmin.newSecret(keycloak.realm(tenant.value()), AUTOMATION_CLIENT, mode))
                .map(secret -> secret.orElseThrow(() -> ProblemException.conflict(
                        "no-such-client", "the tenant's realm has no client " + AUTOMATION_CLIENT)));
    }

    /**
     * Checks the state of the tenant before the call to Keycloak, so that no request goes to a realm that does not
     * exist.
     */
    private Uni<Void> requireUsable(TenantId tenant) {
        return database.on(connection -> tenants.find(connection, tenant))
                .invoke(TenantCredentials::requireUsable)
                .replaceWithVoid();
    }

    private static void requireUsable(Optional<Tenant> found) {
        TenantState state = found.orElseThrow(ProblemException::notFound).state();
        switch (state) {
            case ACTIVE, SUSPENDED -> {}
            case PROVISIONING, FAILED, OFFBOARDING, DELETED ->
                throw ProblemException.conflict(
                        "wrong-state", "the tenant is " + EnumNames.of(state) + "; it must be active or suspended");
        }
    }

    private Uni<Void> record(Caller caller, TenantId tenant, String resource, @Nullable Object after, WriteMode mode) {
        return database.in(mode, connection -> tenants.lock(connection, tenant)
                .invoke(TenantCredentials::requireUsable)
                .chain(() -> audit.record(
                        connection, tenant, caller, new AuditLog.Change("tenants:credential", resource, null, after))));
    }

    private String newPassword() {
        byte[] bytes = new byte[PASSWORD_BYTES];
        random.nextBytes(bytes);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }
}
