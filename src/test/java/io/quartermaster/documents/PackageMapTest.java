package io.quartermaster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The map of the packages names every package of the program, and no other. */
class PackageMapTest {

    private static final Path ROOT = Path.of("src", "main", "java", "io", "quartermaster");
    /** A row: the package, and the text that names those below it as {@code .name}. */
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z.]+)` \\| (.*) \\|$");

    private static final Pattern BELOW = Pattern.compile("`(\\.[a-z]+)`");

    @Test
    void everyPackageIsInTheMap() throws IOException {
        String page = Files.readString(Path.of("ARCHITECTURE.md"));
        SortedSet<String> packages = packages();
        SortedSet<String> named =
                named(page.substring(page.indexOf("### Packages"), page.indexOf("## The control loop")));

        assertThat(named).hasSizeGreaterThan(50).isSubsetOf(packages);
        assertThat(packages)
                .allSatisfy(name -> assertThat(named).as(name).anyMatch(row -> (row + ".").startsWith(name + ".")));
    }

    @Test
    void theReadingOrderNamesEveryCapability() throws IOException {
        String page = Files.readString(Path.of("docs", "internals", "README.md"));

        assertThat(packages())
                .filteredOn(name -> !name.contains("."))
                .hasSizeGreaterThan(10)
                .allSatisfy(name -> assertThat(page)
                        .containsPattern("\\(\\.\\./\\.\\./src/main/java/io/quartermaster/" + name + "[/)]"));
    }

    private static SortedSet<String> named(String map) {
        return ROW.matcher(map)
                .results()
                .flatMap(row -> Stream.concat(
                        Stream.of(row.group(1)),
                        BELOW.matcher(row.group(2)).results().map(below -> row.group(1) + below.group(1))))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** The names of the packages, without the root. */
    private static SortedSet<String> packages() throws IOException {
        try (Stream<Path> files = Files.walk(ROOT)) {
            return files.filter(file -> file.endsWith("package-info.java"))
                    .map(file -> ROOT.relativize(file.getParent()).toString().replace('/', '.'))
                    .filter(name -> !name.isEmpty())
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }
}
