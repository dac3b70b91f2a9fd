package io.quartermaster.agent.supervisor;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @Test
    void aFolderWithoutOutputHasAnEmptyTail() throws IOException {
        assertThat(Output.tail(folder, 100)).isEqualTo(new Output.Tail("", 0));
    }

    @Test
    void keepsAtLeastHalfAndAtMostTheWholeOfItsLimit() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        StringBuilder all = new StringBuilder();
        try (Output output = new Output(folder, 1_000)) {
            for (int write = 0; write < 500; write++) {
                String text = Character.toString('a' + random.nextInt(26)).repeat(random.nextInt(300));
                all.append(text);
                append(output, text);

                assertThat(kept()).as("seed %s", seed).isLessThanOrEqualTo(1_000);
                String tail = Output.tail(folder, 500).text();
                assertThat(tail).as("seed %s", seed).isEqualTo(all.substring(Math.max(0, all.length() - 500)));
                assertThat(Output.totalBytes(folder)).as("seed %s", seed).isEqualTo(all.length());
            }
        }
    }

    @Test
    void aTailDoesNotBeginInsideACharacter() throws IOException {
        try (Output output = new Output(folder, 1_000)) {
            append(output, "a€€"); // seven bytes
        }

        assertThat(Output.tail(folder, 5).text()).isEqualTo("€");
        assertThat(Output.tail(folder, 6).text()).isEqualTo("€€");
        assertThat(Output.tail(folder, 7).text()).isEqualTo("a€€");
    }

    private long kept() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }

    private static void append(Output output, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        output.append(bytes, bytes.length);
    }
}
