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

class AttemptOutputTest {
    @TempDir
    @SuppressWarnings("NullAway.Init")
    private Path folder;

    @Test
    void aFolderWithoutOutputHasAnEmptyTail() throws IOException {
        assertThat(AttemptOutput.tail(folder, 100)).isEqualTo(new AttemptOutput.Tail("", 0));
    }

    @Test
    void keepsAtLeastHalfAndAtMostTheWholeOfItsLimit() throws IOException {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        StringBuilder all = new StringBuilder();
        try (AttemptOutput attemptOutput = new AttemptOutput(folder, 1_000)) {
            for (int write = 0; write < 500; write++) {
                String text = Character.toString('a' + random.nextInt(26)).repeat(random.nextInt(300));
                all.append(text);
                append(attemptOutput, text);

                assertThat(kept()).as("seed %s", seed).isLessThanOrEqualTo(1_000);
                String tail = AttemptOutput.tail(folder, 500).text();
                assertThat(tail).as("seed %s", seed).isEqualTo(all.substring(Math.max(0, all.length() - 500)));
                assertThat(AttemptOutput.totalBytes(folder)).as("seed %s", seed).isEqualTo(all.length());
            }
        }
    }

    @Test
    void aTailDoesNotBeginInsideACharacter() throws IOException {
        try (AttemptOutput attemptOutput = new AttemptOutput(folder, 1_000)) {
            append(attemptOutput, "a€€"); // seven bytes
        }

        assertThat(AttemptOutput.tail(folder, 5).text()).isEqualTo("€");
        assertThat(AttemptOutput.tail(folder, 6).text()).isEqualTo("€€");
        assertThat(AttemptOutput.tail(folder, 7).text()).isEqualTo("a€€");
    }

    @Test
    void aCharacterThatIsNotCompleteComesWithTheNextTail() throws IOException {
        byte[] globe = "ok\n\uD83C\uDF10!\n".getBytes(StandardCharsets.UTF_8);
        try (AttemptOutput attemptOutput = new AttemptOutput(folder, 1_000)) {
            for (int written = 4; written < 7; written++) {
                attemptOutput.append(globe, written == 4 ? 4 : 0);
                if (written > 4) {
                    attemptOutput.append(new byte[] {globe[written - 1]}, 1);
                }
                assertThat(AttemptOutput.tail(folder, 100)).isEqualTo(new AttemptOutput.Tail("ok\n", 3));
            }
            attemptOutput.append(new byte[] {globe[6], globe[7], globe[8]}, 3);
        }

        assertThat(AttemptOutput.tail(folder, 100)).isEqualTo(new AttemptOutput.Tail("ok\n\uD83C\uDF10!\n", 9));
    }

    @Test
    void aByteThatIsNoTextBecomesOneQuestionMark() throws IOException {
        byte[] bytes = {'a', (byte) 0xFF, (byte) 0xFE, 'b', 0, (byte) 0xE4, (byte) 0xB8, 'c', (byte) 0x80, '\n'};
        try (AttemptOutput attemptOutput = new AttemptOutput(folder, 1_000)) {
            attemptOutput.append(bytes, bytes.length);
        }

        assertThat(AttemptOutput.tail(folder, 100)).isEqualTo(new AttemptOutput.Tail("a??b???c?\n", bytes.length));
    }

    private long kept() throws IOException {
        try (Stream<Path> files = Files.list(folder)) {
            return files.mapToLong(file -> file.toFile().length()).sum();
        }
    }

    private static void append(AttemptOutput attemptOutput, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        attemptOutput.append(bytes, bytes.length);
    }
}
