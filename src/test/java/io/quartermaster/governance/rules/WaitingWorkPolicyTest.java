package io.quartermaster.governance.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class WaitingWorkPolicyTest {

    @Test
    void aRefusalNamesTheParameterThatIsWrong() {
        assertThat(refused("move", null).field()).isEqualTo("moveTo");
        assertThat(refused("move", null).message()).startsWith("is missing");
        assertThat(refused(null, "rnd-one").field()).isEqualTo("moveTo");
        assertThat(refused("cancel", "rnd-one").field()).isEqualTo("moveTo");
        assertThat(refused("drop", null).field()).isEqualTo("onWaiting");
        assertThat(refused("drop", null).message()).contains("drop");
    }

    @Test
    void whatIsAskedForIsRead() {
        assertThat(WaitingWorkPolicy.parse(null, null)).isEqualTo(new WaitingWorkPolicy.Refuse());
        assertThat(WaitingWorkPolicy.parse("cancel", null)).isEqualTo(new WaitingWorkPolicy.Cancel());
        assertThat(WaitingWorkPolicy.parse("move", "rnd-one")).isEqualTo(new WaitingWorkPolicy.Move("rnd-one"));
    }

    private static Problem.Field refused(@Nullable String onWaiting, @Nullable String moveTo) {
        return catchThrowableOfType(ProblemException.class, () -> WaitingWorkPolicy.parse(onWaiting, moveTo))
                .problem()
                .errors()
                .getFirst();
    }
}
