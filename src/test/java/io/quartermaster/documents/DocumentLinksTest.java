package io.quartermaster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every relative link of the Markdown pages leads to a file, and every anchor to a heading. */
class DocumentLinksTest {

    private static final Pattern LINK = Pattern.compile("\\[[^\\]]*]\\(([^)\\s]+)\\)");
    /** Where a reference such as {@code [Engine]} leads. */
    private static final Pattern DEFINITION = Pattern.compile("(?m)^\\[[^\\]]+]: (\\S+)$");

    private static final Pattern CODE = Pattern.compile("`[^`]*`");
    /** A page that a comment, a manifest or a message names by its path from the root. */
    private static final Pattern PAGE = Pattern.compile("\\bdocs/[A-Za-z0-9/_-]+\\.md\\b");

    @Test
    void everyRelativeLinkResolves() throws IOException {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Path page : pages()) {
            for (String target : links(page)) {
                links++;
                if (!resolves(page, target)) {
                    broken.add(page + ": " + target);
                }
            }
        }

        assertThat(links).isGreaterThan(20);
        assertThat(broken).isEmpty();
    }

    @Test
    void everyPageThatTheProgramNamesIsThere() throws IOException {
        List<String> missing = new ArrayList<>();
        for (String root : List.of("src/main", "deploy", "k8s", "tenants", "billing", "openapi")) {
            try (Stream<Path> files = Files.walk(Path.of(root))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    PAGE.matcher(Files.readString(file))
                            .results()
                            .map(MatchResult::group)
                            .filter(name -> !Files.exists(Path.of(name)))
                            .forEach(name -> missing.add(file + ": " + name));
                }
            }
        }

        assertThat(missing).isEmpty();
    }

    /** The documents of the repository, without the output of builds and of started services. */
    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        try (Stream<Path> root = Files.list(Path.of(""))) {
            root.filter(DocumentLinksTest::isPage).forEach(pages::add);
        }
        pages.add(Path.of("clients", "python", "README.md"));
        for (String folder : List.of("docs", "benchmarks", "deploy", ".github")) {
            if (Files.isDirectory(Path.of(folder))) {
                try (Stream<Path> files = Files.walk(Path.of(folder))) {
                    files.filter(DocumentLinksTest::isPage).forEach(pages::add);
                }
            }
        }
        return pages;
    }

    private static boolean isPage(Path file) {
        return file.toString().endsWith(".md") && Files.isRegularFile(file);
    }

    /** The links of a page outside code, without those to other sites. */
    private static List<String> links(Path page) throws IOException {
        String text = CODE.matcher(prose(page)).replaceAll("");
        return Stream.concat(
                        LINK.matcher(text).results(), DEFINITION.matcher(text).results())
                .map(link -> link.group(1))
                .filter(target -> !target.matches("[a-z]+:.*"))
                .toList();
    }

    private static boolean resolves(Path page, String target) throws IOException {
        int hash = target.indexOf('#');
        String file = hash < 0 ? target : target.substring(0, hash);
        Path parent = page.getParent();
        Path linked = file.isEmpty() ? page : (parent == null ? Path.of(file) : parent.resolve(file)).normalize();
        if (!Files.exists(linked)) {
            return false;
        }
        return hash < 0 || !isPage(linked) || anchors(linked).contains(target.substring(hash + 1));
    }

    /**
     * The anchors of a page as code hosts derive them: lower case, without punctuation, blanks as hyphens, repetitions
     * numbered.
     */
    private static Set<String> anchors(Path page) throws IOException {
        Set<String> anchors = new LinkedHashSet<>();
        Map<String, Integer> seen = new HashMap<>();
        for (String line : prose(page).lines().toList()) {
            if (line.matches("#{1,6} .*")) {
                String anchor = line.replaceFirst("#+ ", "")
                        .strip()
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .replace(' ', '-');
                int times = seen.merge(anchor, 1, Integer::sum);
                anchors.add(times == 1 ? anchor : anchor + "-" + (times - 1));
            }
        }
        return anchors;
    }

    /** The text of a page without its fenced blocks. */
    private static String prose(Path page) throws IOException {
        StringBuilder prose = new StringBuilder();
        boolean fenced = false;
        for (String line : Files.readAllLines(page)) {
            if (line.strip().startsWith("```")) {
                fenced = !fenced;
            } else if (!fenced) {
                prose.append(line).append('\n');
            }
        }
        return prose.toString();
    }
}
