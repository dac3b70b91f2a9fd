package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class CellClockTest {

    private static final Duration TOLERANCE = Duration.ofSeconds(5);
    private static final Instant NOW = Instant.parse("2026-11-01T12:00:00Z");

    @Test
    void clocksThatAgreeAreNoObstacleHoweverLongTheCellWasNotLed() {
        assertThat(new CellClock(NOW.minusSeconds(3_600), NOW, NOW.plusSeconds(4)).obstacle(TOLERANCE))
                .isEmpty();
        assertThat(new CellClock(NOW.plusSeconds(4), NOW, NOW).obstacle(TOLERANCE))
                .isEmpty();
    }

    @Test
    void aReplicaWhoseClockIsOffLeavesTheLeaseToOthers() {
        assertThat(new CellClock(NOW, NOW, NOW.plusSeconds(40)).obstacle(TOLERANCE))
                .hasValueSatisfying(why -> assertThat(why).contains("this replica does not lead"));
        assertThat(new CellClock(NOW, NOW, NOW.minusSeconds(40)).obstacle(TOLERANCE))
                .isPresent();
    }

    @Test
    void aStampThatIsAheadKeepsEveryReplicaFromLeadingAndSaysUntilWhen() {
        assertThat(new CellClock(NOW.plusSeconds(40), NOW, NOW).obstacle(TOLERANCE))
                .hasValueSatisfying(why -> assertThat(why).contains("no replica may lead", "2026-11-01T12:00:35Z"));
    }
}
