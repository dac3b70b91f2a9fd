package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The manual pages that {@code qm manual} writes. */
class ManualCommandTest extends CommandTest {

    @Test
    void everyCommandHasAPageInTheMacrosOfManualPages() throws IOException {
        Path folder = home.resolve("man1");

        ClientRun.Result result = client.run("manual", folder.toString(), "-o", "name");

        assertThat(result.exitCode()).as(result.err()).isZero();
        try (Stream<Path> pages = Files.list(folder)) {
            List<Path> files = pages.toList();
            assertThat(files).hasSizeGreaterThan(40).allSatisfy(page -> assertThat(Files.readString(page))
                    .startsWith(".TH QM")
                    .contains("\n.SH NAME\nqm", "\n.SH SYNOPSIS\n", "\n.SH OPTIONS\n")
                    .doesNotContain("${", "%n", "\u001B"));
            assertThat(result.line().lines()).hasSameSizeAs(files);
        }
        assertThat(Files.readString(folder.resolve("qm-nodes-drain.1")))
                .contains(
                        "qm\\-nodes\\-drain \\- Closes nodes to new work",
                        ".SH PARAMETERS\n.TP\n\\fINODE\\fR\nNames of nodes\n",
                        "\\fB\\-o\\fR, \\fB\\-\\-output\\fR \\fIFORMAT\\fR\n",
                        "Default: table\n",
                        ".SH EXIT STATUS\n.TP\n\\fB0\\fR\nthe nodes are empty",
                        "  qm nodes drain node\\-7 \\-\\-timeout 2h\n");
        assertThat(Files.readString(folder.resolve("qm-nodes.1"))).contains(".SH COMMANDS\n", "\\fBdrain\\fR\n");
    }

    @Test
    void aFolderThatCannotBeMadeIsNamed() throws IOException {
        String file = file("file", "");

        ClientRun.Result result = client.run("manual", file);

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).startsWith("qm: cannot write the pages into " + file);
    }
}
