package io.quartermaster.client.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class LogTailTest {

    private final LogTail log = new LogTail();

    @Test
    void aGrowingOutputIsPrintedOnce() {
        assertThat(log.advanceTo("a\n")).isEqualTo(new LogTail.Growth("a\n", false));
        assertThat(log.advanceTo("a\nb\n")).isEqualTo(new LogTail.Growth("b\n", false));
        assertThat(log.advanceTo("a\nb\n")).isEqualTo(new LogTail.Growth("", false));
    }

    @Test
    void theOverlapWithTheAnswerBeforeIsLeftOut() {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < 100; i++) {
            lines.append("line ").append(i).append('\n');
        }
        String before = lines.toString();
        log.advanceTo(before);

        assertThat(log.advanceTo(before.substring(300) + "new\n")).isEqualTo(new LogTail.Growth("new\n", false));
        assertThat(log.advanceTo("97\nline 98\nline 99\nnew\nnewer\n")).isEqualTo(new LogTail.Growth("newer\n", false));
    }

    @Test
    void outputWithoutOverlapHasAGap() {
        log.advanceTo("one\ntwo\n");

        assertThat(log.advanceTo("8\n9")).isEqualTo(new LogTail.Growth("8\n9", true));
    }

    @Test
    void aShorterAnswerAddsNothing() {
        log.advanceTo("one\ntwo\nthree\n");

        assertThat(log.advanceTo("three\n").text()).isEmpty();
    }
}
