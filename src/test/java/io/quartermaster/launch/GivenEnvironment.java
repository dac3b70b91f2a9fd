package io.quartermaster.launch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.ProgramSettings;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import picocli.CommandLine;

/** The environment that a deployment file gives the service, compared with the variables that the program reads. */
record GivenEnvironment(Map<String, String> variables) {

    GivenEnvironment {
        variables = Map.copyOf(variables);
    }

    /** PostgreSQL, Redis and Keycloak are all external, so that the container runs the service alone. */
    void assertThatNothingIsEmbedded() {
        assertThat(ExternalServices.from(variables).embedded()).isEmpty();
    }

    /** Each variable changes the configuration, or is the name of an option or of a setting. */
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

    /** The path of the health checks, without the name of a check. */
    static String healthRoot() throws IOException {
        return applicationProperties().getProperty("quarkus.smallrye-health.root-path");
    }

    static String metricsPath() throws IOException {
        return applicationProperties().getProperty("quarkus.micrometer.export.prometheus.path");
    }

    /** The command of these arguments exists and accepts them. */
    static void assertThatTheProgramTakes(List<String> arguments) {
        CommandLine.ParseResult parsed = ServiceCommand.commandLine().parseArgs(arguments.toArray(String[]::new));
        assertThat(parsed.hasSubcommand()).isTrue();
    }

    private static boolean givesAnOption(String name) {
        return ServiceCommand.commandLine().getSubcommands().values().stream()
                .flatMap(command -> command.getCommandSpec().options().stream())
                .filter(option -> option.userObject() instanceof Field)
                .map(option -> ((Field) option.userObject()).getAnnotation(CommandLine.Option.class))
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
        } catch (io.quartermaster.launch.StartFailure missing) {
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
