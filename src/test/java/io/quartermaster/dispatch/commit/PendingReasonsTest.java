package io.quartermaster.dispatch.commit;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Reason;
import io.vertx.core.json.JsonObject;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class PendingReasonsTest {

    /** A reason that could not be written would stop the cell: every plan writes it until it is stored. */
    @Test
    void aReasonIsWrittenWhateverItsNumbersAre() {
        Reason reason = new Reason(
                Reason.Code.NO_SUCH_NODE,
                new PoolId("h100"),
                Optional.empty(),
                new Reason.Numbers(10_000_000_000_000L, Long.MAX_VALUE, OptionalLong.of(Long.MIN_VALUE), -500),
                "No node has so many.",
                "Ask for less.");

        JsonObject json = PendingReasons.json(reason);

        assertThat(json.getString("requested")).isEqualTo("10000000000");
        assertThat(json.getString("used")).isEqualTo("9223372036854775.807");
        assertThat(json.getString("bound")).isEqualTo("-9223372036854775.808");
        assertThat(json.getString("free")).isEqualTo("-0.5");
    }

    @Test
    void whatOthersHoldInAPoolIsNotTold() {
        Reason reason = new Reason(
                Reason.Code.NO_CAPACITY,
                new PoolId("h100"),
                Optional.empty(),
                new Reason.Numbers(1_000, 4_000, OptionalLong.empty(), 0),
                "It needs 1 GPU; 0 GPUs are free in h100.",
                "1 GPU more comes free in h100.");

        assertThat(PendingReasons.json(reason).containsKey("used")).isFalse();
    }
}
