package io.quartermaster.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The texts of the repository keep to plain words, short sentences and lines that fit a screen. */
class PlainEnglishTest {

    private static final List<String> RULES = List.of("told|tells => reports, states", "at once => immediately");

    @Test
    void everyTextKeepsToTheRules() throws IOException {
        List<Path> files = EnglishChecker.everything();

        assertThat(files).hasSizeGreaterThan(1000);
        assertThat(EnglishChecker.check(files)).isEmpty();
    }

    @Test
    void aBannedWordIsFoundInACommentAMessageAndAPage() {
        assertThat(findings("A.java", "/** The engine is told.\n * It starts at\n * once. */\n"))
                .containsExactly("A.java:2: \"at once\": immediately", "A.java:1: \"told\": reports, states");
        assertThat(findings("A.java", "String s = \"the agent was \"\n + \"told so\";"))
                .containsExactly("A.java:1: \"told\": reports, states");
        assertThat(findings("a.md", "# Title\n\nThe engine\nis told.\n"))
                .containsExactly("a.md:4: \"told\": reports, states");
    }

    @Test
    void codeSqlAndQuotedNamesAreNoProse() {
        assertThat(findings(
                        "A.java",
                        "boolean told = tells(\"told\");\nString sql = \"select told from tells where a\";\n"))
                .isEmpty();
        assertThat(findings("A.java", "/** Calls {@code told()} and {@link Teller#told}. */\n"))
                .isEmpty();
        assertThat(findings("a.md", "Call `told` so.\n\n```\nit is told\n```\n"))
                .isEmpty();
    }

    @Test
    void aLongSentenceAndABadBeginningAreFound() {
        String sentence = "word ".repeat(EnglishChecker.MAX_WORDS) + "word.";

        assertThat(findings("a.md", "Short. " + sentence + "\n"))
                .containsExactly(
                        "a.md:1: line of 137 characters, at most 120",
                        "a.md:1: sentence of 26 words, at most 25: word word word word word word word word word word word word word wo...");
        assertThat(findings("a.md", "It runs. Who waits is told.\n"))
                .contains("a.md:1: begin with the subject: Who waits is told.");
    }

    private static List<String> findings(String file, String text) {
        return new EnglishChecker(RULES).checkFile(Path.of(file), text);
    }
}
