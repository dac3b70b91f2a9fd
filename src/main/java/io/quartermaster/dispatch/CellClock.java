package io.quartermaster.dispatch;

import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The times that bear on a cell's leadership, read at one moment.
 *
 * @param stamp of the last turn
 * @param database the database's clock, which makes the next stamp unless the last one is later
 * @param replica this replica's own clock
 */
record CellClock(Instant stamp, Instant database, Instant replica) {

    static CellClock read(SystemTransaction transaction, String cell) {
        for (Row row : transaction.run("select stamp, clock_timestamp() as now from cell where id = $1", cell)) {
            return new CellClock(
                    row.getOffsetDateTime("stamp").toInstant(),
                    row.getOffsetDateTime("now").toInstant(),
                    Instant.now());
        }
        throw new IllegalStateException("there is no cell " + cell);
    }

    /** How far the stamp is ahead of the database's clock; zero when it is not. */
    Duration ahead() {
        return stamp.isAfter(database) ? Duration.between(database, stamp) : Duration.ZERO;
    }

    /** Why no replica, or not this one, may lead now. A stamp that lies behind is no reason: the next one is the database's time. */
    Optional<String> obstacle(Duration tolerance) {
        Duration off = Duration.between(database, replica).abs();
        if (off.compareTo(tolerance) > 0) {
            return Optional.of("this replica's clock and the database's are " + off
                    + " apart, so this replica does not lead; set both clocks by one source of time");
        }
        if (ahead().compareTo(tolerance) > 0) {
            return Optional.of("the stamp of the cell is " + ahead()
                    + " ahead of the database's clock, so no replica may lead: planning goes on by itself at "
                    + stamp.minus(tolerance)
                    + ", or once an operator resets the stamp (see docs/runbooks/QuartermasterStampAhead.md)");
        }
        return Optional.empty();
    }
}
