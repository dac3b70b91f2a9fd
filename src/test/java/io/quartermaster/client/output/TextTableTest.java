package io.quartermaster.client.output;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TextTableTest {

    @Test
    void columnsAreAsWideAsTheirWidestCell() {
        TextTable table = new TextTable(TextStyle.plain(), "A", "NAME", "C");
        table.add("1", "x", "yes");
        table.add("22", "gr\u00FC\u00DFe \uD83D\uDE80", "");

        assertThat(table.lines())
                .containsExactly("A   NAME     C", "1   x        yes", "22  gr\u00FC\u00DFe \uD83D\uDE80  -");
    }

    @Test
    void coloursDoNotChangeTheColumns() {
        TextTable table = new TextTable(TextStyle.of(true), "STATE", "B");
        table.add("failed", "x");
        table.add("other", "y");

        assertThat(table.lines())
                .containsExactly("\u001B[2mSTATE   B\u001B[0m", "\u001B[31mfailed\u001B[0m  x", "other   y");
    }

    @Test
    void noCellCanSteerTheTerminal() {
        TextTable table = new TextTable(TextStyle.plain(), "A");
        table.add("x\u001B[2J\ny\u009Bz");

        assertThat(table.lines().getLast()).isEqualTo("x\uFFFD[2J y\uFFFDz");
    }

    @Test
    void aRowHasACellForEachColumn() {
        TextTable table = new TextTable(TextStyle.plain(), "A", "B");

        assertThatThrownBy(() -> table.add("1")).isInstanceOf(IllegalArgumentException.class);
    }
}
