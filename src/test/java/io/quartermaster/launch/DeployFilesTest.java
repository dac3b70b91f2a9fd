package io.quartermaster.launch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.tenancy.TenancyConfig;
import io.smallrye.config.WithDefault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;

/** The container file, the compose file and the roles' script in {@code deploy/} match the program. */
class DeployFilesTest {

    private static final Path CONTAINERFILE = Path.of("deploy/Containerfile");
    private static final Path COMPOSE = Path.of("deploy/compose.yaml");
    private static final Path ROLES = Path.of("deploy/postgres/10-roles.sql");

    @Test
    void theImageRunsAsNobodyInParticular() throws IOException {
        assertThat(lastStage("USER")).singleElement().satisfies(user -> assertThat(user)
                .matches("[1-9]\\d*:[1-9]\\d*"));
    }

    @Test
    void theImageListensOnThePortsItExposes() throws IOException {
        Map<String, String> variables = new LinkedHashMap<>();
        for (String word : String.join(" ", lastStage("ENV")).split("\\s+")) {
            variables.put(word.split("=", 2)[0], word.split("=", 2)[1]);
        }
        GivenEnvironment environment = new GivenEnvironment(variables);

        environment.assertThatEveryVariableIsRead();
        assertThat(lastStage("EXPOSE")).containsExactly(environment.httpPort() + " " + environment.managementPort());
    }

    @Test
    void theImageIsBuiltByTheWrapperOnTheJdkThatTheBuildAsksFor() throws IOException {
        String release = first("<maven.compiler.release>(\\d+)<", Files.readString(Path.of("pom.xml")));

        assertThat(instructions().filter(line -> line.startsWith("FROM ")))
                .containsExactly(
                        "FROM docker.io/library/eclipse-temurin:" + release + "-jdk AS build",
                        "FROM docker.io/library/eclipse-temurin:" + release + "-jre");
        assertThat(instructions().filter(line -> line.startsWith("RUN "))).anyMatch(line -> line.contains("./mvnw "));
    }

    @Test
    void theImageHoldsTheServiceAlone() throws IOException {
        String build = instructions()
                .filter(line -> line.startsWith("RUN ") && line.contains("./mvnw "))
                .collect(Collectors.joining());

        assertThat(build.split(" ")).contains("-Dservice", "package");
        assertThat(build).doesNotContainPattern("\\brm\\b");
    }

    /** The catalogue of blueprints reads every plan at the start, so a missing one would prevent it. */
    @Test
    void theServiceAloneHasTheBlueprintOfEveryDefaultPlan() throws Exception {
        String excluded =
                first("<excluded.tenants>([^<]+\\.yaml)</excluded.tenants>", Files.readString(Path.of("pom.xml")));
        String plans = TenancyConfig.class
                .getMethod("plans")
                .getAnnotation(WithDefault.class)
                .value();

        assertThat(plans.split(",")).isNotEmpty().allSatisfy(plan -> assertThat(plan + ".yaml")
                .isNotEqualTo(excluded)
                .satisfies(file -> assertThat(Path.of("tenants", file)).exists()));
    }

    @Test
    void theImageStartsTheProgram() throws IOException {
        assertThat(lastStage("COPY"))
                .containsExactly("--from=build /src/target/service/quarkus-app target/quarkus-app");
        assertThat(lastStage("ENTRYPOINT")).singleElement().satisfies(entry -> assertThat(entry)
                .contains("\"-jar\", \"target/quarkus-app/quarkus-run.jar\""));
        GivenEnvironment.assertThatTheProgramTakes(
                List.of(lastStage("CMD").getFirst().replaceAll("[\\[\\]\"]", "").split(",\\s*")));
    }

    @Test
    void composeGivesTheServiceEverythingAndNothingElse() throws IOException {
        GivenEnvironment environment = new GivenEnvironment(environmentOf("service"));

        environment.assertThatNothingIsEmbedded();
        environment.assertThatEveryVariableIsRead();
        assertThat(strings(service("service").getOrDefault("ports", List.of())))
                .containsExactly("127.0.0.1:8080:" + environment.httpPort());
    }

    @Test
    void onlyTheMigrationKnowsTheOwner() throws IOException {
        assertThat(environmentOf("service").keySet()).noneMatch(name -> name.contains("OWNER"));
        assertThat(ExternalServices.migrations(environmentOf("migration")))
                .containsEntry("quarkus.flyway.username", "qm_owner")
                .containsEntry("quarkus.flyway.placeholders.requestRole", "qm_request");
        GivenEnvironment.assertThatTheProgramTakes(strings(service("migration").getOrDefault("command", List.of())));
        assertThat(service("service").getOrDefault("depends_on", "").toString())
                .contains("migration={condition=service_completed_successfully}");
    }

    @Test
    void everyPartIsConfinedAndNoArgumentHoldsAPassword() throws IOException {
        assertThat(services()).allSatisfy((name, one) -> {
            assertThat(strings(one.getOrDefault("cap_drop", List.of())))
                    .as(name)
                    .containsExactly("ALL");
            assertThat(strings(one.getOrDefault("security_opt", List.of())))
                    .as(name)
                    .containsExactly("no-new-privileges:true");
            assertThat(one.getOrDefault("read_only", false)).as(name).isEqualTo(!name.equals("keycloak"));
            assertThat(one.getOrDefault("command", "").toString()).as(name).doesNotContain("${");
        });
    }

    @Test
    void passwordsAndDataStayOutOfTheBuild() throws IOException {
        List<String> ignored = Files.readAllLines(Path.of(".containerignore"));

        assertThat(ignored).contains("deploy/.env", ".qm", ".git", "target");
        assertThat(Files.readAllLines(Path.of(".dockerignore")))
                .as("Docker reads this one")
                .isEqualTo(ignored);
    }

    @Test
    void composeRunsTheVersionsThatTheProgramIsTestedWith() throws IOException {
        String pom = Files.readString(Path.of("pom.xml"));
        String keycloak = first("<keycloak.version>([^<]+)<", pom);
        String postgres = first("<postgres-binaries.version>(\\d+)\\.", pom);

        assertThat(service("keycloak")).containsEntry("image", "quay.io/keycloak/keycloak:" + keycloak);
        assertThat(service("postgres")).containsEntry("image", "docker.io/library/postgres:" + postgres);
    }

    @Test
    void noPasswordHasADefault() throws IOException {
        String text = Files.readString(COMPOSE);

        assertThat(Pattern.compile("\\$\\{([A-Z_]+)(:\\?)?}").matcher(text).results())
                .isNotEmpty()
                .allSatisfy(use -> assertThat(use.group(2)).as(use.group(1)).isEqualTo(":?"));
        assertThat(services()).allSatisfy((name, one) -> assertThat(mapOf(one.getOrDefault("environment", Map.of())))
                .allSatisfy((variable, value) -> assertThat(!variable.contains("PASSWORD") || value.startsWith("${"))
                        .as(variable)
                        .isTrue()));
    }

    @Test
    void everyPartSaysWhenItIsReadyAndTheServiceWaitsForThem() throws IOException {
        assertThat(services())
                .allSatisfy((name, one) ->
                        assertThat(one.containsKey("healthcheck")).as(name).isEqualTo(!name.equals("migration")));
        assertThat(service("service").getOrDefault("depends_on", "").toString())
                .contains("postgres", "redis", "keycloak")
                .doesNotContain("service_started");
        assertThat(service("service").getOrDefault("healthcheck", "").toString())
                .contains(
                        "/127.0.0.1/" + new GivenEnvironment(environmentOf("service")).managementPort() + " ",
                        "GET " + GivenEnvironment.healthRoot() + "/ready");
    }

    @Test
    void rolesAreThoseOfTheEmbeddedDatabase() throws IOException {
        String script = Files.readString(ROLES);
        String program = Files.readString(Path.of("src/main/java/io/quartermaster/embedded/DatabaseRoles.java"));
        String attributes = first("\\+ \" (login [a-z ]+) password '\"", program);

        assertThat(List.of("qm_owner", "qm_request", "qm_system", "keycloak")).allSatisfy(role -> assertThat(script)
                .contains("create role " + role + " " + attributes + " password"));
        assertThat(program)
                .contains("statement_timeout = '60s'", "SYSTEM + \" set idle_in_transaction_session_timeout = '60s'")
                .contains("REQUEST + \" set idle_in_transaction_session_timeout = '5s'");
        assertThat(script)
                .contains("alter role qm_request set statement_timeout = '60s'")
                .contains("alter role qm_system set statement_timeout = '60s'")
                .contains("alter role qm_request set idle_in_transaction_session_timeout = '5s'")
                .contains("alter role qm_system set idle_in_transaction_session_timeout = '60s'");
    }

    @Test
    void thePasswordsOfTheRolesReachTheirScript() throws IOException {
        assertThat(Pattern.compile("\\\\getenv \\w+ (\\w+)")
                        .matcher(Files.readString(ROLES))
                        .results()
                        .map(result -> result.group(1)))
                .hasSize(4)
                .isSubsetOf(environmentOf("postgres").keySet());
    }

    private static List<String> lastStage(String instruction) throws IOException {
        List<String> all = instructions().toList();
        int begin = 0;
        for (int line = 0; line < all.size(); line++) {
            if (all.get(line).startsWith("FROM ")) {
                begin = line;
            }
        }
        return all.subList(begin, all.size()).stream()
                .filter(line -> line.startsWith(instruction + " "))
                .map(line -> line.substring(instruction.length() + 1))
                .toList();
    }

    /** The instructions without comments, each on one line. */
    private static Stream<String> instructions() throws IOException {
        String text =
                Files.readString(CONTAINERFILE).replaceAll("(?m)^#.*\\n", "").replaceAll("\\\\\\n\\s*", "");
        return Arrays.stream(text.split("\\n")).filter(line -> !line.isBlank());
    }

    private static Map<String, String> environmentOf(String name) throws IOException {
        return mapOf(service(name).getOrDefault("environment", Map.of()));
    }

    private static Map<String, Object> service(String name) throws IOException {
        return services().getOrDefault(name, Map.of());
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Map<String, Object>> services() throws IOException {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        Map<String, Object> compose = new Yaml(options).load(Files.readString(COMPOSE));
        return (Map<String, Map<String, Object>>) compose.getOrDefault("services", Map.of());
    }

    private static Map<String, String> mapOf(Object tree) {
        Map<String, String> texts = new LinkedHashMap<>();
        ((Map<?, ?>) tree).forEach((name, value) -> texts.put(String.valueOf(name), String.valueOf(value)));
        return texts;
    }

    private static List<String> strings(Object list) {
        return ((List<?>) list).stream().map(String::valueOf).toList();
    }

    private static String first(String pattern, String text) {
        return Pattern.compile(pattern)
                .matcher(text)
                .results()
                .map(result -> result.group(1))
                .findFirst()
                .orElseThrow();
    }
}
