package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.ExternalProgram;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Clients in three languages. A separate generator program generates them from the committed contract. */
final class GeneratedClients {

    static final Path FOLDER = Path.of("target", "generated-clients");

    private static final Path GENERATOR = Path.of("target", "client-generator", "openapi-generator-cli.jar");
    private static final Path STAMP = FOLDER.resolve("contract.yaml");

    private GeneratedClients() {}

    /** Generates the clients, unless those from the current contract exist already. */
    static synchronized void generate() {
        try {
            String contract = Contract.committedText();
            if (Files.exists(STAMP) && Files.readString(STAMP).equals(contract)) {
                return;
            }
            assertThat(GENERATOR)
                    .as("the generator; ./mvnw generate-test-resources fetches it")
                    .exists();
            Files.createDirectories(FOLDER);
            List<String> command = new ArrayList<>(List.of(
                    ExternalProgram.java(),
                    "-XX:TieredStopAtLevel=1",
                    "-XX:+UseSerialGC",
                    "-jar",
                    GENERATOR.toString()));
            command.addAll(List.of("batch", "--threads", "1"));
            command.add(configured(
                    "java",
                    "java",
                    Map.of(
                            "library", "native",
                            "openApiNullable", "false",
                            "useJakartaEe", "true",
                            "invokerPackage", "io.quartermaster.client",
                            "apiPackage", "io.quartermaster.client.api",
                            "modelPackage", "io.quartermaster.client.model")));
            command.add(configured("python", "python", Map.of("packageName", "quartermaster_client")));
            command.add(configured("typescript", "typescript-fetch", Map.of("importFileExtension", ".js")));
            String output = ExternalProgram.run(command);
            assertThat(output.lines().filter(line -> line.contains("[main] WARN") || line.contains("ERROR")))
                    .as("what the generator complains of")
                    .isEmpty();
            Files.writeString(STAMP, contract);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String configured(String folder, String generator, Map<String, String> options) throws IOException {
        Path file = FOLDER.resolve(folder + ".yaml");
        String text = options.entrySet().stream()
                .map(option -> "  " + option.getKey() + ": \"" + option.getValue() + "\"")
                .sorted()
                .collect(Collectors.joining(
                        "\n",
                        "generatorName: " + generator + "\ninputSpec: " + Contract.COMMITTED + "\noutputDir: "
                                + FOLDER.resolve(folder) + "\nadditionalProperties:\n",
                        "\n"));
        Files.writeString(file, text);
        return file.toString();
    }
}
