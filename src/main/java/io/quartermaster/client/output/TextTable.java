package io.quartermaster.client.output;

import java.util.ArrayList;
import java.util.List;

/** A table of left-aligned columns that are as wide as their widest cell. */
public final class TextTable {

    private static final String GAP = "  ";

    private final TextStyle style;
    private final List<String> header;
    private final List<List<String>> rows = new ArrayList<>();

    public TextTable(TextStyle style, String... header) {
        this.style = style;
        this.header = List.of(header);
    }

    /** Adds a row; control characters in a cell are replaced, so that no cell can steer the terminal. */
    public void add(String... cells) {
        if (cells.length != header.size()) {
            throw new IllegalArgumentException(cells.length + " cells for " + header.size() + " columns");
        }
        List<String> row = new ArrayList<>();
        for (String cell : cells) {
            row.add(cell.isEmpty() ? "-" : TextStyle.printable(cell));
        }
        rows.add(row);
    }

    public boolean isEmpty() {
        return rows.isEmpty();
    }

    /** The lines of the table, the header first. States and codes have their colours. */
    public List<String> lines() {
        int[] widths = new int[header.size()];
        for (int column = 0; column < widths.length; column++) {
            widths[column] = header.get(column).length();
            for (List<String> row : rows) {
                widths[column] = Math.max(
                        widths[column],
                        row.get(column).codePointCount(0, row.get(column).length()));
            }
        }
        List<String> lines = new ArrayList<>();
        lines.add(style.faint(line(header, widths, false)));
        rows.forEach(row -> lines.add(line(row, widths, true)));
        return lines;
    }

    private String line(List<String> cells, int[] widths, boolean coloured) {
        StringBuilder line = new StringBuilder();
        for (int column = 0; column < widths.length; column++) {
            String cell = cells.get(column);
            line.append(coloured ? style.state(cell) : cell);
            if (column + 1 < widths.length) {
                line.append(" ".repeat(widths[column] - cell.codePointCount(0, cell.length())))
                        .append(GAP);
            }
        }
        return line.toString();
    }
}
