package io.quartermaster.dispatch;

import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The three times that decide whether this replica may lead a cell, read at one moment.
 *
 * @param stamp of the last cycle
 * @param database the database's clock, which gives the next stamp unless the last stamp is later
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

    /** How far the stamp is ahead of the database's clock; zero if it is not ahead. */
    Duration stampAhead() {
        return stamp.isAfter(database) ? Duration.between(database, stamp) : Duration.ZERO;
    }

    /**
     * The reason why this replica, or every replica, must not lead now. A stamp behind the database's clock is no
     * reason: the next stamp is the database's time.
     */
    Optional<String> obstacle(Duration tolerance) {
        Duration off = Duration.between(database, replica).abs();
        if (off.compareTo(tolerance) > 0) {
            return Optional.of("this replica's clock and the database's are " + off
                    + " apart, so this replica does not lead; synchronize both clocks with one time source");
        }
        if (stampAhead().compareTo(tolerance) > 0) {
            return Optional.of("the stamp of the cell is " + stampAhead()
                    + " ahead of the database's clock, so no replica may lead: planning resumes by itself at "
                    + stamp.minus(tolerance)
                    + ", or when an operator resets the stamp (see docs/runbooks/QuartermasterStampAhead.md)");
        }
        return Optional.empty();
    }
}
