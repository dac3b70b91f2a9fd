package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** A generator accepts the contract, and its clients compile. */
@OwnProcesses
class GeneratedClientsIT {

    @Test
    void generatedJavaClientCompiles() throws IOException {
        GeneratedClients.generate();
        List<Path> sources = sources(GeneratedClients.FOLDER.resolve("java/src/main/java"), ".java");
        Path classes = Files.createDirectories(GeneratedClients.FOLDER.resolve("java-classes"));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter output = new StringWriter();

        boolean compiled;
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
            compiled = compiler.getTask(
                            output,
                            files,
                            null,
                            List.of(
                                    "-proc:none",
                                    "-nowarn",
                                    "-d",
                                    classes.toString(),
                                    "-cp",
                                    System.getProperty("java.class.path")),
                            null,
                            files.getJavaFileObjectsFromPaths(sources))
                    .call();
        }

        assertThat(compiled).as(output.toString()).isTrue();
        assertThat(sources(classes, ".class")).hasSizeGreaterThanOrEqualTo(sources.size());
    }

    @Test
    void everyOperationIsInTheGeneratedClients() throws IOException {
        GeneratedClients.generate();
        List<String> operations =
                Contract.committed().calls().stream().map(Contract.Call::id).toList();

        assertThat(text(GeneratedClients.FOLDER.resolve("java/src/main/java"), ".java"))
                .contains(operations);
        assertThat(text(GeneratedClients.FOLDER.resolve("typescript"), ".ts")).contains(operations);
        assertThat(text(GeneratedClients.FOLDER.resolve("python/quartermaster_client"), ".py"))
                .contains(operations.stream()
                        .map(id -> "def " + id.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT) + "(")
                        .toList());
    }

    private static List<Path> sources(Path folder, String suffix) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(suffix))
                    .sorted()
                    .toList();
        }
    }

    private static String text(Path folder, String suffix) throws IOException {
        StringBuilder text = new StringBuilder();
        for (Path file : sources(folder, suffix)) {
            text.append(Files.readString(file));
        }
        return text.toString();
    }
}
