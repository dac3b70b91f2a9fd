package io.quartermaster.dispatch;

import io.quartermaster.platform.db.LeaderDatabase;
import jakarta.inject.Inject;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** Base of tests that lead the cell themselves, cycle by cycle. */
public abstract class LedByHand {

    /** A node's lease that outlives the test. */
    public static final Duration LONG = Duration.ofMinutes(30);

    /** A lease that has expired. */
    static final Duration OVER = Duration.ofSeconds(-1);

    @Inject
    public LeaderDatabase database;

    public HandLedCell cell;

    @BeforeEach
    void lead() {
        cell = HandLedCell.lead(database);
    }

    @AfterEach
    void resign() {
        cell.close();
    }

    /** The executor reports that the workload runs. */
    void run(CellRows rows, UUID job) {
        rows.report(job, "running", "");
        cell.settle();
    }
}
