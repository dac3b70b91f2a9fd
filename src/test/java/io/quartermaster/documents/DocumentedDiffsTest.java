package io.quartermaster.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The changes of sources that the pages show apply to the present sources, and what they make of them compiles. */
class DocumentedDiffsTest {

    @Test
    void everyDiffOfThePagesAppliesAndCompiles(@TempDir Path folder) throws IOException {
        List<Path> changed = new ArrayList<>();
        List<String> broken = new ArrayList<>();
        for (Path page : pages()) {
            for (FencedBlocks.Block block : FencedBlocks.of(page)) {
                if (block.language().equals("diff")) {
                    try {
                        changed.add(write(
                                UnifiedDiff.parse(block.text()),
                                Files.createDirectories(folder.resolve("diff-" + changed.size()))));
                    } catch (IllegalArgumentException wrong) {
                        broken.add(page + ":" + block.line() + ": " + wrong.getMessage());
                    }
                }
            }
        }

        assertThat(broken).isEmpty();
        assertThat(changed).hasSizeGreaterThan(2).allSatisfy(file -> assertThat(errors(file, folder))
                .as("%s", file)
                .isEmpty());
    }

    @Test
    void aDiffThatNoLongerFitsIsRefused() {
        UnifiedDiff diff = UnifiedDiff.parse("""
                --- a/A.java
                +++ b/A.java
                @@ -2,2 +2,2 @@
                 two
                -three
                +four
                """);

        assertThat(diff.applyTo(List.of("one", "two", "three", "end"))).containsExactly("one", "two", "four", "end");
        assertThat(diff.applyTo(List.of("one", "more", "two", "three"))).containsExactly("one", "more", "two", "four");
        assertThatThrownBy(() -> diff.applyTo(List.of("one", "two", "other"))).hasMessageContaining("two\nthree");
        assertThatThrownBy(() -> diff.applyTo(List.of("two", "three", "two", "three")))
                .hasMessageContaining("not once");
        assertThatThrownBy(() -> UnifiedDiff.parse(" two\n-three\n")).hasMessageContaining("name the file");
        assertThatThrownBy(() -> UnifiedDiff.parse("--- a/A\n+++ b/A\n@@ -1,2 +1,1 @@\n-one\n"))
                .hasMessageContaining("1 old and 0 new lines");
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("docs"))) {
            return files.filter(file -> file.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static Path write(UnifiedDiff diff, Path to) throws IOException {
        return Files.write(to.resolve(diff.file().getFileName()), diff.applyTo(Files.readAllLines(diff.file())));
    }

    /** The errors of the compiler in a file, compiled against the present classes. */
    private static String errors(Path file, Path classes) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter output = new StringWriter();
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8)) {
            String classPath = Stream.concat(
                            Stream.of("target/classes", "target/test-classes"),
                            Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                                    .filter(entry -> entry.contains("jspecify")))
                    .collect(Collectors.joining(File.pathSeparator));
            boolean compiled = compiler.getTask(
                            output,
                            files,
                            null,
                            List.of(
                                    "-proc:none",
                                    "-nowarn",
                                    "-implicit:none",
                                    "-d",
                                    classes.toString(),
                                    "-cp",
                                    classPath),
                            null,
                            files.getJavaFileObjects(file))
                    .call();
            return compiled ? "" : output.toString();
        }
    }
}
