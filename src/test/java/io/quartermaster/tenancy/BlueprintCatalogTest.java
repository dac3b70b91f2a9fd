package io.quartermaster.tenancy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.access.IdentityConfig;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.platform.TenantId;
import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.keycloak.representations.idm.ClientRepresentation;
import org.keycloak.representations.idm.RealmRepresentation;
import org.keycloak.representations.idm.RoleRepresentation;

/** The blueprints of this repository, and the refusal of invalid ones. */
class BlueprintCatalogTest {

    private static final Path SHIPPED = Path.of("tenants");

    @Test
    void templatesHaveExactlyTheRolesThatMeanSomething() {
        BlueprintCatalog blueprintCatalog = blueprints(SHIPPED);

        assertThat(roles(blueprintCatalog.realmOf(spec("standard"))))
                .containsExactlyInAnyOrderElementsOf(rolesOf(new Realm.Tenant(new TenantId("any"))));
        assertThat(roles(blueprintCatalog.operatorRealm()))
                .containsExactlyInAnyOrderElementsOf(rolesOf(new Realm.Operator()));
    }

    @Test
    void tenantsNameIsPutInWithoutBreakingOutOfItsText() {
        RealmRepresentation realm = blueprints(SHIPPED)
                .realmOf(new TenantSpec(new TenantId("acme"), "\", {tenant} \\ $1", "standard", List.of()));

        assertThat(realm.getRealm()).isEqualTo("acme");
        assertThat(realm.getDisplayName()).isEqualTo("\", {tenant} \\ $1");
    }

    @Test
    void realmsDoNotLetPeopleRegisterThemselvesOrProgramsSendPasswords() {
        RealmRepresentation realm = blueprints(SHIPPED).realmOf(spec("standard"));

        assertThat(realm.isRegistrationAllowed()).isFalse();
        assertThat(realm.getClients()).noneMatch(client -> client.isDirectAccessGrantsEnabled());
        assertThat(realm.getClients())
                .filteredOn(client -> client.isPublicClient() && client.isStandardFlowEnabled())
                .isNotEmpty()
                .allSatisfy(client ->
                        assertThat(client.getAttributes()).containsEntry("pkce.code.challenge.method", "S256"));
    }

    @Test
    void whetherAdminsManageUsersIsInThePlansTemplate(@TempDir Path folder) throws IOException {
        change(folder, "realm-template.json", text -> text.replace("\"manage-users\",", ""));

        assertThat(blueprints(SHIPPED).adminsManageUsers("standard")).isTrue();
        assertThat(blueprints(folder).adminsManageUsers("standard")).isFalse();
        assertThat(blueprints(SHIPPED).adminsManageUsers("no-such-plan")).isFalse();
    }

    @Test
    void aTemplateWithoutTheClientOfTheCommandLineGetsTheProgramsOwn(@TempDir Path folder) throws IOException {
        for (String file : List.of("realm-template.json", "operator-realm.json")) {
            change(folder, file, text -> text.replace("\"qm-cli\"", "\"another\""));
            BlueprintCatalog catalog = blueprints(folder);
            ClientRepresentation client = file.startsWith("realm")
                    ? catalog.clientOf("standard", new TenantId("acme"), "qm-cli")
                    : catalog.operatorClient("qm-cli");

            assertThat(client.isPublicClient()).isTrue();
            assertThat(client.getAttributes()).containsEntry("oauth2.device.authorization.grant.enabled", "true");
        }
        assertThat(blueprints(SHIPPED)
                        .clientOf("no-such-plan", new TenantId("acme"), "qm-cli")
                        .getClientId())
                .isEqualTo("qm-cli");
    }

    @Test
    void misspeltKeysAreRefusedAndTheFileNamed(@TempDir Path folder) throws IOException {
        change(folder, "standard.yaml", text -> text + "\nmaxGroop: 5\n");

        assertThatThrownBy(() -> blueprints(folder))
                .hasMessageContaining("standard.yaml")
                .hasMessageContaining("maxGroop");
    }

    @Test
    void misspeltKeysOfATemplateAreRefusedAndTheFileNamed(@TempDir Path folder) throws IOException {
        change(folder, "realm-template.json", text -> text.replace("bruteForceProtected", "bruteForceProtect"));

        assertThatThrownBy(() -> blueprints(folder))
                .hasMessageContaining("realm-template.json")
                .hasMessageContaining("bruteForceProtect");
    }

    @Test
    void passwordsInAPlanThatIsNoDemonstrationAreRefused(@TempDir Path folder) throws IOException {
        change(folder, "demo.yaml", text -> text.replace("demo: true", "demo: false"));

        assertThatThrownBy(() -> blueprints(folder)).hasMessageContaining("demo.yaml");
    }

    @Test
    void rolesNoTenantHasAreRefused(@TempDir Path folder) throws IOException {
        change(folder, "demo.yaml", text -> text.replace("[viewer]", "[operator]"));

        assertThatThrownBy(() -> blueprints(folder)).hasMessageContaining("no role operator");
    }

    @Test
    void sectionsOfPackagesAboveAreReadWithTheRest(@TempDir Path folder) throws IOException {
        change(folder, "standard.yaml", text -> text + "\nrules: {profiles: []}\n");

        assertThat(blueprints(folder).section(spec("standard"), "rules")).isPresent();
        assertThat(blueprints(folder).section(spec("demo"), "rules")).isEmpty();

        change(folder, "standard.yaml", text -> text + "\nrules: 3\n");
        assertThatThrownBy(() -> blueprints(folder))
                .hasMessageContaining("standard.yaml")
                .hasMessageContaining("rules: not an object");
    }

    private static void change(Path folder, String file, java.util.function.UnaryOperator<String> change)
            throws IOException {
        try (Stream<Path> files = Files.list(SHIPPED)) {
            for (Path shipped : files.toList()) {
                Files.copy(shipped, folder.resolve(shipped.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }
        Path changed = folder.resolve(file);
        Files.writeString(changed, change.apply(Files.readString(changed)));
    }

    private static BlueprintCatalog blueprints(Path folder) {
        SmallRyeConfig config = new SmallRyeConfigBuilder()
                .withMapping(TenancyConfig.class)
                .withMapping(IdentityConfig.class)
                .withDefaultValues(Map.of(
                        "quartermaster.tenancy.blueprints",
                        folder.toString(),
                        "quartermaster.tenancy.plans",
                        "standard,demo"))
                .addDiscoveredConverters()
                .build();
        return new BlueprintCatalog(
                config.getConfigMapping(TenancyConfig.class),
                config.getConfigMapping(IdentityConfig.class),
                List.of(new Rules()));
    }

    /** Stands for a section that a higher package adds. */
    private static final class Rules implements BlueprintSection {
        @Override
        public String key() {
            return "rules";
        }

        @Override
        public void check(JsonNode value) {
            if (!value.isObject()) {
                throw new IllegalArgumentException("rules: not an object");
            }
        }
    }

    private static TenantSpec spec(String plan) {
        return new TenantSpec(new TenantId("acme"), "Acme", plan, List.of());
    }

    private static List<String> roles(RealmRepresentation realm) {
        return realm.getRoles().getRealm().stream()
                .map(RoleRepresentation::getName)
                .toList();
    }

    private static List<String> rolesOf(Realm realm) {
        return Arrays.stream(Role.values())
                .filter(role -> role.belongsTo(realm))
                .map(Role::word)
                .toList();
    }
}
