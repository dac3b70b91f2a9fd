package io.quartermaster.capacity.inventory;

import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Reads values from the rows of a query of the system role. */
public final class RowValues {

    private RowValues() {}

    public static <T> List<T> list(RowSet<Row> rows, Function<Row, T> read) {
        List<T> found = new ArrayList<>(rows.size());
        for (Row row : rows) {
            found.add(read.apply(row));
        }
        return found;
    }

    static <T> Optional<T> optional(RowSet<Row> rows, Function<Row, T> read) {
        return rows.size() == 0
                ? Optional.empty()
                : Optional.of(read.apply(rows.iterator().next()));
    }
}
