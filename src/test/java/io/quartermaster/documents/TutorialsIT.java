package io.quartermaster.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.quartermaster.testing.OwnProcesses;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Runs the commands of {@code docs/tutorials} as a reader types them, page by page, against one packaged program.
 *
 * <p>Each block {@code sh} is run. The block {@code text} after it is its output, in which {@code ...} stands for
 * anything. The pages name the default ports; the test replaces them by free ones. {@code ./qm} starts the packaged
 * program with {@code --unsafe-demo}, so that the commands also run on machines that cannot confine work. The commands
 * of people run from their own jar, with a folder of their own for their files.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
@OwnProcesses
class TutorialsIT {

    private static final Path PAGES = Path.of("docs", "tutorials");
    private static final List<String> IN_ORDER = List.of("first-job.md", "first-tenant.md", "first-bill.md");
    private static final Duration TIME_LIMIT = Duration.ofMinutes(15);
    private static final String MARK = "@@ block ";

    private static final Path FOLDER =
            Path.of("target", "it-tutorials-" + ProcessHandle.current().pid()).toAbsolutePath();

    /** The ports that the pages name, each with its replacement in this test. */
    private static final Map<String, String> PORTS = new LinkedHashMap<>();

    @BeforeAll
    static void installation() throws IOException {
        boolean tools = isInstalled("bash") && isInstalled("curl") && isInstalled("jq");
        if (!tools) {
            System.out.println("SKIPPED TutorialsIT: bash, curl and jq must be installed");
        }
        assumeTrue(tools, "the tutorials need bash, curl and jq");
        List<ServerSocket> free = new ArrayList<>();
        for (String port : List.of("8080", "8081", "5439", "6390", "8180")) {
            ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
            free.add(socket);
            PORTS.put(port, Integer.toString(socket.getLocalPort()));
        }
        for (ServerSocket socket : free) {
            socket.close();
        }
        Files.createDirectories(FOLDER);
        Path launcher = Files.writeString(FOLDER.resolve("qm"), """
                #!/bin/sh
                command=$1
                shift
                case $command in
                    up | down | audit) ;;
                    *) exec '%1$s' -Xmx128m -XX:TieredStopAtLevel=1 -Dqm.command=./qm -jar '%5$s' "$command" "$@" ;;
                esac
                [ "$command" = up ] && set -- --unsafe-demo "$@"
                exec '%1$s' -Xmx384m '-Dqm.home=%2$s' -Dqm.command=./qm -jar '%3$s' "$command" "$@" --data-dir '%4$s'
                """.formatted(
                        Path.of(System.getProperty("java.home"), "bin", "java"),
                        Path.of("").toAbsolutePath(),
                        Path.of("target", "quarkus-app", "quarkus-run.jar").toAbsolutePath(),
                        FOLDER.resolve(".qm"),
                        Path.of("target", "client", "quartermaster-client.jar").toAbsolutePath()));
        Files.setPosixFilePermissions(launcher, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterAll
    static void down() throws Exception {
        if (Files.exists(FOLDER.resolve("qm"))) {
            Path script = Files.writeString(FOLDER.resolve("down.sh"), "./qm down\n");
            assertThat(run(script, FOLDER.resolve("down.out"))).isZero();
        }
    }

    @Test
    @Order(1)
    void everyTutorialIsRun() throws IOException {
        try (Stream<Path> pages = Files.list(PAGES)) {
            assertThat(pages.map(page -> page.getFileName().toString())).containsExactlyInAnyOrderElementsOf(IN_ORDER);
        }
    }

    @Test
    @Order(2)
    void theFirstJobRunsAsThePageSays() throws Exception {
        follow("first-job.md");
    }

    @Test
    @Order(3)
    void theFirstTenantIsMadeAsThePageSays() throws Exception {
        follow("first-tenant.md");
    }

    @Test
    @Order(4)
    void theFirstBillReadsAsThePageSays() throws Exception {
        follow("first-bill.md");
    }

    private static void follow(String page) throws Exception {
        List<FencedBlocks.Block> blocks = FencedBlocks.of(PAGES.resolve(page));
        StringBuilder text = new StringBuilder("set -eu -o pipefail\n");
        for (FencedBlocks.Block block : blocks) {
            if (block.language().equals("sh")) {
                text.append("echo '").append(MARK).append(block.line()).append("'\n");
                text.append(block.text()).append('\n');
            }
        }
        Path script = Files.writeString(FOLDER.resolve(page + ".sh"), withPorts(text.toString()));
        Path output = FOLDER.resolve(page + ".out");

        int exitCode = run(script, output);

        String said = asOnThePage(Files.readString(output));
        assertThat(exitCode).as("%s: %s", page, said).isZero();
        Map<Integer, String> byLine = outputByLine(said);
        int compared = 0;
        for (int i = 1; i < blocks.size(); i++) {
            FencedBlocks.Block expected = blocks.get(i);
            if (expected.language().equals("text")) {
                FencedBlocks.Block command = blocks.get(i - 1);
                assertThat(command.language())
                        .as("%s:%d follows commands", page, expected.line())
                        .isEqualTo("sh");
                assertThat(byLine.getOrDefault(command.line(), "").strip())
                        .as("%s:%d", page, expected.line())
                        .matches(pattern(expected.text()));
                compared++;
            }
        }
        assertThat(compared).as("outputs compared in %s", page).isPositive();
    }

    /** The output of each block, by the line of the page on which the block begins. */
    private static Map<Integer, String> outputByLine(String said) {
        Map<Integer, String> byLine = new LinkedHashMap<>();
        for (String part : said.split(Pattern.quote(MARK), -1)) {
            int end = part.indexOf('\n');
            if (end > 0 && part.substring(0, end).matches("[0-9]+")) {
                byLine.put(Integer.valueOf(part.substring(0, end)), part.substring(end + 1));
            }
        }
        return byLine;
    }

    private static Pattern pattern(String expected) {
        StringBuilder regex = new StringBuilder();
        for (String part : expected.strip().split(Pattern.quote("..."), -1)) {
            regex.append(regex.isEmpty() ? "" : "[\\s\\S]*").append(Pattern.quote(part));
        }
        return Pattern.compile(regex.toString());
    }

    private static String withPorts(String text) {
        String changed = text;
        for (Map.Entry<String, String> port : PORTS.entrySet()) {
            changed = changed.replace("127.0.0.1:" + port.getKey(), "127.0.0.1:" + port.getValue());
        }
        return changed;
    }

    /** The output with the ports of the page. Lines of CSV end with CR LF, which a page does not show. */
    private static String asOnThePage(String text) {
        String changed = text.replace("\r\n", "\n");
        for (Map.Entry<String, String> port : PORTS.entrySet()) {
            changed = changed.replace("127.0.0.1:" + port.getValue(), "127.0.0.1:" + port.getKey());
        }
        return changed;
    }

    private static int run(Path script, Path output) throws Exception {
        ProcessBuilder builder = new ProcessBuilder("bash", script.toString())
                .directory(FOLDER.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment()
                .putAll(Map.of(
                        "XDG_CONFIG_HOME", FOLDER.resolve("config").toString(),
                        "QM_HTTP_PORT", PORTS.get("8080"),
                        "QM_MANAGEMENT_PORT", PORTS.get("8081"),
                        "QM_POSTGRES_PORT", PORTS.get("5439"),
                        "QM_REDIS_PORT", PORTS.get("6390"),
                        "QM_KEYCLOAK_PORT", PORTS.get("8180")));
        Process process = builder.start();
        if (!process.waitFor(TIME_LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly().waitFor();
            throw new AssertionError(script + " did not end within " + TIME_LIMIT + ": " + Files.readString(output));
        }
        return process.exitValue();
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
    }
}
