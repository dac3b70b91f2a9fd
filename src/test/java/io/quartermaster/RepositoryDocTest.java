package io.quartermaster;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;

/** The files in {@code .github} can be parsed, and name files, campaigns and teams that exist. */
class RepositoryDocTest {

    private static final Path FOLDER = Path.of(".github");

    @Test
    void everyFileOfYamlCanBeRead() throws IOException {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        try (Stream<Path> files = Files.walk(FOLDER)) {
            assertThat(files.filter(file -> file.toString().endsWith(".yml")))
                    .hasSizeGreaterThan(5)
                    .allSatisfy(file -> assertThat(new Yaml(options).<Object>load(Files.readString(file)))
                            .as("%s", file)
                            .isNotNull());
        }
    }

    @Test
    void ownersAreTeamsAndWhatTheyOwnIsThere() throws IOException {
        List<String> lines = Files.readAllLines(FOLDER.resolve("CODEOWNERS")).stream()
                .filter(line -> !line.startsWith("#") && !line.isBlank())
                .toList();

        assertThat(lines).hasSizeGreaterThan(10).allSatisfy(line -> {
            String[] words = line.split("\\s+");
            assertThat(words).hasSizeGreaterThan(1);
            assertThat(words[0].equals("*") || Files.exists(Path.of("." + words[0])))
                    .as(words[0])
                    .isTrue();
            assertThat(Stream.of(words).skip(1)).allMatch(owner -> owner.matches("@quartermaster/[a-z]+"));
        });
    }

    @Test
    void theNightRunsCampaignsThatAreThere() throws IOException {
        String campaigns = Files.readString(Path.of("src/test/campaigns/campaign.py"));

        assertThat(Pattern.compile("\\{campaign: ([a-z-]+), times: \\d+}")
                        .matcher(Files.readString(FOLDER.resolve("workflows/nightly.yml")))
                        .results()
                        .map(found -> found.group(1)))
                .hasSizeGreaterThan(3)
                .allSatisfy(name -> assertThat(campaigns).contains("\"" + name + "\": ("));
    }

    @Test
    void workflowsNameFilesThatAreThere() throws IOException {
        try (Stream<Path> workflows = Files.walk(FOLDER.resolve("workflows"))) {
            for (Path workflow : workflows.filter(Files::isRegularFile).toList()) {
                assertThat(Pattern.compile("(?m)(?<=[ /])((?:deploy|src|\\.ci)/[A-Za-z0-9/_.-]+)")
                                .matcher(Files.readString(workflow))
                                .results()
                                .map(found -> Path.of(found.group(1))))
                        .as("%s", workflow)
                        .allSatisfy(file -> assertThat(file).exists());
            }
        }
    }
}
