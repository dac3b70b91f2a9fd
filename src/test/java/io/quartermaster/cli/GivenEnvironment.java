package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.ProgramSettings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import picocli.CommandLine;

/** The environment that a deployment file gives the service, held against what the program reads. */
record GivenEnvironment(Map<String, String> variables) {

    GivenEnvironment {
        variables = Map.copyOf(variables);
    }

    /** PostgreSQL, Redis and Keycloak are all given, so that the container runs the service alone. */
    void assertThatNothingIsEmbedded() {
        assertThat(ExternalServices.from(variables).embedded()).isEmpty();
    }

    /** Leaving a variable out makes a difference, or it is the name of an option or of a setting. */
    void assertThatEveryVariableIsRead() {
        assertThat(variables.keySet()).isNotEmpty().allSatisfy(name -> assertThat(
                        givesAnOption(name) || givesASetting(name) || changesWhatIsGiven(name))
                .as("%s is read by the program", name)
                .isTrue());
    }

    /** The port that the service listens on. */
    int httpPort() throws IOException {
        return port("QM_HTTP_PORT", "quarkus.http.port");
    }

    /** The port of health and metrics. */
    int managementPort() throws IOException {
        return port("QM_MANAGEMENT_PORT", "quarkus.management.port");
    }

    private int port(String variable, String property) throws IOException {
        String byDefault =
                applicationProperties().getProperty(property).replaceFirst("^\\$\\{" + variable + ":(\\d+)}$", "$1");
        return Integer.parseInt(variables.getOrDefault(variable, byDefault));
    }

    /** Where health is served, without the check's name. */
    static String healthRoot() throws IOException {
        return applicationProperties().getProperty("quarkus.smallrye-health.root-path");
    }

    static String metricsPath() throws IOException {
        return applicationProperties().getProperty("quarkus.micrometer.export.prometheus.path");
    }

    /** The command of these arguments exists and takes them. */
    static void assertThatTheProgramTakes(List<String> arguments) {
        CommandLine.ParseResult parsed = QuartermasterCommand.commandLine().parseArgs(arguments.toArray(String[]::new));
        assertThat(parsed.hasSubcommand()).isTrue();
    }

    private static boolean givesAnOption(String name) {
        return Arrays.stream(UpCommand.class.getDeclaredFields())
                .map(field -> field.getAnnotation(CommandLine.Option.class))
                .filter(Objects::nonNull)
                .anyMatch(option -> option.defaultValue().startsWith("${env:" + name + ":-"));
    }

    private static boolean givesASetting(String name) {
        return ProgramSettings.all().stream()
                .anyMatch(setting -> setting.environmentName().equals(name));
    }

    private boolean changesWhatIsGiven(String name) {
        Map<String, String> without = new LinkedHashMap<>(variables);
        without.remove(name);
        try {
            return !ExternalServices.from(without).equals(ExternalServices.from(variables));
        } catch (io.quartermaster.embedded.StartFailure missing) {
            return true;
        }
    }

    private static Properties applicationProperties() throws IOException {
        Properties properties = new Properties();
        try (InputStream in = Files.newInputStream(Path.of("src/main/resources/application.properties"))) {
            properties.load(in);
        }
        return properties;
    }
}
