package io.quartermaster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code docs/reference/settings.md} names every key and variable that the program reads, and no other. */
class ConfigurationDocTest {

    private static final Path PAGE = Path.of("docs/reference/settings.md");
    private static final String BEGIN = "<!-- settings: written by ConfigurationDocTest -->\n";
    private static final String END = "<!-- end of settings -->";
    private static final Pattern VARIABLE = Pattern.compile("\\bQM_[A-Z][A-Z_]*[A-Z]\\b");

    @Test
    void everyVariableIsExplained() throws IOException {
        Set<String> explained = variablesIn(Files.readString(PAGE));
        Set<String> read = new TreeSet<>();
        for (Path file : programFiles()) {
            read.addAll(variablesIn(Files.readString(file)));
        }

        assertThat(read).isNotEmpty().allSatisfy(name -> assertThat(explained)
                .as("%s is explained in %s", name, PAGE)
                .anyMatch(one -> one.equals(name) || isCredentialOf(one, name)));
        assertThat(explained).allSatisfy(name -> assertThat(read)
                .as("%s is read somewhere", name)
                .anyMatch(one -> one.equals(name) || isCredentialOf(name, one)));
    }

    /** Run with {@code -Dqm.docs.write=true} to rewrite the table. */
    @Test
    void everyKeyIsInTheTableWithItsDefaultAndMeaning() throws IOException {
        String page = Files.readString(PAGE);
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        int end = page.indexOf(END);
        assertThat(end).isGreaterThanOrEqualTo(begin);
        if (Boolean.getBoolean("qm.docs.write")) {
            page = page.substring(0, begin) + table() + page.substring(end);
            Files.writeString(PAGE, page);
            end = page.indexOf(END);
        }

        assertThat(page.substring(begin, end))
                .as("run ./mvnw test -Dtest=ConfigurationDocTest -Dqm.docs.write=true")
                .isEqualTo(table());
    }

    /** 5M would look like months, and PT5M beside 5m like another duration. */
    @Test
    void everyDurationIsWrittenInOneStyle() {
        assertThat(ProgramSettings.all())
                .filteredOn(setting -> setting.defaultValue().orElse("").matches("-?P[0-9T].*|[0-9]+(MS|S|M|H|D)"))
                .as("durations are a number and ms, s, m, h or d")
                .isEmpty();
    }

    @Test
    void everyKeySaysWhatItMeans() {
        assertThat(ProgramSettings.all()).isNotEmpty().allSatisfy(setting -> assertThat(setting.meaning())
                .as(setting.key())
                .isNotBlank());
    }

    private static String table() {
        return ProgramSettings.all().stream()
                .map(setting -> "| `%s` | %s | %s |\n"
                        .formatted(
                                setting.key(),
                                setting.defaultValue()
                                        .map(value -> "`" + value + "`")
                                        .orElse("none"),
                                setting.meaning()))
                .collect(Collectors.joining("", "\n| key | default | meaning |\n| --- | --- | --- |\n", "\n"));
    }

    /** Whether a variable is a user or a password whose name is composed from a prefix. */
    private static boolean isCredentialOf(String name, String prefix) {
        return name.equals(prefix + "_USER") || name.equals(prefix + "_PASSWORD");
    }

    private static Set<String> variablesIn(String text) {
        Matcher matcher = VARIABLE.matcher(text);
        return matcher.results().map(result -> result.group()).collect(Collectors.toCollection(TreeSet::new));
    }

    private static Iterable<Path> programFiles() throws IOException {
        try (Stream<Path> sources = Files.walk(Path.of("src/main"))) {
            return Stream.concat(Stream.of(Path.of("qm")), sources.filter(Files::isRegularFile))
                    .toList();
        }
    }
}
