package io.quartermaster.workloads.logs;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.workloads.logs.LogTailCutter.Cut;
import io.quartermaster.workloads.logs.LogTailCutter.Line;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class LogTailCutterTest {

    private static long bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }

    @Test
    void onlyCompleteLinesAreSentUntilTheRestIsAskedFor() {
        String output = "one\ntwo\r\nthr";

        assertThat(LogTailCutter.after(output, bytes(output), 0, false).lines())
                .containsExactly(new Line("one", false, 4), new Line("two", false, 9));
        assertThat(LogTailCutter.after(output, bytes(output), 9, true).lines())
                .containsExactly(new Line("thr", true, 12));
        String longer = output + "ee\n";
        assertThat(LogTailCutter.after(longer, bytes(longer), 12, false).lines())
                .containsExactly(new Line("ee", false, 15));
    }

    @Test
    void outputThatIsNotStoredAnyMoreIsALossOfItsBytes() {
        Cut cut = LogTailCutter.after("tail\n", 105, 20, false);

        assertThat(cut.lostBytes()).isEqualTo(80);
        assertThat(cut.fromOffset()).isEqualTo(100);
        assertThat(cut.lines()).containsExactly(new Line("tail", false, 105));
    }

    @Test
    void whatWasReadIsNotSentAgain() {
        Cut cut = LogTailCutter.after("all\n", 4, 4, true);

        assertThat(cut.lines()).isEmpty();
        assertThat(cut.lostBytes()).isZero();
    }

    @Test
    void offsetsCountBytesAndNoCharacterIsCut() {
        String output = "h\u00e9llo\n\u4e16\u754c\n";

        Cut cut = LogTailCutter.after(output, bytes(output), 0, false);
        assertThat(cut.lines()).extracting(Line::endOffset).containsExactly(7L, 14L);
        // Inside a character: it begins with the next one.
        assertThat(LogTailCutter.after(output, bytes(output), 8, false).lines())
                .containsExactly(new Line("\u754c", false, 14));
        String wide = "\u4e16".repeat(LogTailCutter.MAX_LINE_BYTES);
        assertThat(LogTailCutter.after(wide, bytes(wide), 0, true).lines())
                .hasSizeGreaterThan(2)
                .allSatisfy(line -> assertThat(line.text()).matches("\u4e16+"))
                .allMatch(Line::partial)
                .extracting(line -> line.text().length())
                .satisfies(lengths -> assertThat(
                                lengths.stream().mapToInt(Integer::intValue).sum())
                        .isEqualTo(LogTailCutter.MAX_LINE_BYTES));
    }

    @Test
    void bytesThatAreNotUtf8AreSentOnceAndNoOffsetIsBeyondTheEnd() {
        // ff fe and a NUL, one byte each in the output.
        String tail = "ok\n\uFFFD\uFFFDbad\nm\uFFFDre\n";

        Cut cut = LogTailCutter.after(tail, 14, 0, false);
        assertThat(cut.lines())
                .containsExactly(
                        new Line("ok", false, 3),
                        new Line("\uFFFD\uFFFDbad", false, 9),
                        new Line("m\uFFFDre", false, 14));
        assertThat(cut.endOffset()).isEqualTo(14);
        assertThat(LogTailCutter.after(tail, 14, 14, true).lines()).isEmpty();
        assertThat(LogTailCutter.after(tail, 14, 3, true).lines()).hasSize(2);
        assertThat(LogTailCutter.after("\uFFFD".repeat(9_000), 9_000, 0, true).lines())
                .extracting(Line::endOffset)
                .containsExactly((long) LogTailCutter.MAX_LINE_BYTES, 9_000L);
        assertThat(LogTailCutter.endsInsideCharacter("half \uFFFD")).isTrue();
        assertThat(LogTailCutter.endsInsideCharacter(tail)).isFalse();
    }

    @Test
    void aReplacementCharacterThatTheWorkWroteHasItsThreeBytes() {
        String tail = "hello\nx\uFFFDy\n";

        assertThat(LogTailCutter.after(tail, bytes(tail), 6, false).lines())
                .containsExactly(new Line("x\uFFFDy", false, 12));
        assertThat(LogTailCutter.after(tail, bytes(tail), 12, false).lines()).isEmpty();
    }

    @Test
    void aLineWithoutEndIsSentInParts() {
        String output = "x".repeat(LogTailCutter.MAX_LINE_BYTES + 5);

        assertThat(LogTailCutter.after(output, bytes(output), 0, false).lines())
                .containsExactly(
                        new Line("x".repeat(LogTailCutter.MAX_LINE_BYTES), true, LogTailCutter.MAX_LINE_BYTES));
    }
}
