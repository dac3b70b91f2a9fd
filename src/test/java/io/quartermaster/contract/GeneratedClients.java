package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** Clients in three languages. A separate generator program generates them from the committed contract. */
final class GeneratedClients {

    static final Path FOLDER = Path.of("target", "generated-clients");

    private static final Path GENERATOR = Path.of("target", "client-generator", "openapi-generator-cli.jar");
    private static final Path STAMP = FOLDER.resolve("contract.yaml");
    private static final long MAX_MINUTES = 5;

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
            List<String> command = new ArrayList<>(
                    List.of(java(), "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-jar", GENERATOR.toString()));
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
            String output = run(command);
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

    /** Runs a program to its end and returns its output; fails with the output if the program fails. */
    static String run(List<String> command) throws IOException {
        Ended ended = end(command, Map.of());
        assertThat(ended.exitCode()).as(ended.output()).isZero();
        return ended.output();
    }

    /** The exit code and the output of a program. */
    record Ended(int exitCode, String output) {}

    /** Runs a program to its end, in an environment with these variables added. */
    static Ended end(List<String> command, Map<String, String> environment) throws IOException {
        Files.createDirectories(FOLDER);
        Path log = Files.createTempFile(FOLDER, "run", ".log");
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        try {
            assertThat(process.waitFor(MAX_MINUTES, TimeUnit.MINUTES))
                    .as("%s ends in time", command.getFirst())
                    .isTrue();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        } finally {
            process.destroyForcibly();
        }
        return new Ended(process.exitValue(), Files.readString(log));
    }

    static String java() {
        return Path.of(System.getProperty("java.home"), "bin", "java").toString();
    }
}
