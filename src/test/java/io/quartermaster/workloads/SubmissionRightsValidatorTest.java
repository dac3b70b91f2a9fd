package io.quartermaster.workloads;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.governance.rules.SubmissionRights;
import io.quartermaster.platform.http.Problem;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The values that a policy allows in its submissions. */
class SubmissionRightsValidatorTest {

    private static final SubmissionRightsValidator BY_DEFAULT =
            new SubmissionRightsValidator("rnd", SubmissionRights.DEFAULT);

    private static SubmissionRightsValidator upTo(int priority, boolean nonPreemptible) {
        return new SubmissionRightsValidator("rnd", new SubmissionRights(OptionalInt.of(priority), nonPreemptible));
    }

    private static List<String> fields(
            SubmissionRightsValidator check,
            WorkloadType type,
            @Nullable Integer priority,
            @Nullable Boolean preemptible) {
        return check.objections("items[2].", type, priority, preemptible).stream()
                .map(Problem.Field::field)
                .toList();
    }

    @ParameterizedTest
    @EnumSource(WorkloadType.class)
    void byDefaultTheTypesOwnPriorityIsTheHighest(WorkloadType type) {
        int own = type.defaultPriority();
        assertThat(fields(BY_DEFAULT, type, own, true)).isEmpty();
        assertThat(fields(BY_DEFAULT, type, 0, true)).isEmpty();
        assertThat(fields(BY_DEFAULT, type, null, true)).isEmpty();
        assertThat(fields(BY_DEFAULT, type, own + 1, true)).containsExactly("items[2].priority");
        assertThat(BY_DEFAULT.priority(type, null)).isEqualTo(own);
    }

    @Test
    void aStatedHighestPriorityBindsEveryType() {
        assertThat(fields(upTo(200, false), WorkloadType.TRAINING, 200, true)).isEmpty();
        assertThat(fields(upTo(200, false), WorkloadType.INFERENCE, 201, true)).containsExactly("items[2].priority");
        assertThat(fields(upTo(0, false), WorkloadType.TRAINING, 1, true)).containsExactly("items[2].priority");
    }

    @Test
    void whatStatesNoPriorityGetsThatOfItsTypeWithinTheHighest() {
        assertThat(upTo(40, false).priority(WorkloadType.TRAINING, null)).isEqualTo(40);
        assertThat(fields(upTo(40, false), WorkloadType.TRAINING, null, null)).isEmpty();
        assertThat(upTo(200, false).priority(WorkloadType.TRAINING, null)).isEqualTo(50);
        assertThat(upTo(200, false).priority(WorkloadType.TRAINING, 7)).isEqualTo(7);
    }

    @Test
    void nonPreemptibleWorkNeedsTheRightWhetherItIsStatedOrComesWithTheType() {
        assertThat(fields(BY_DEFAULT, WorkloadType.TRAINING, null, false)).containsExactly("items[2].preemptible");
        assertThat(fields(BY_DEFAULT, WorkloadType.WORKSPACE, null, null)).containsExactly("items[2].preemptible");
        assertThat(fields(BY_DEFAULT, WorkloadType.WORKSPACE, null, true)).isEmpty();
        assertThat(fields(upTo(50, true), WorkloadType.TRAINING, null, false)).isEmpty();
        assertThat(fields(upTo(100, true), WorkloadType.WORKSPACE, null, null)).isEmpty();
    }

    @Test
    void allThatIsBeyondIsToldWithTheValueAndWhatIsAccepted() {
        List<Problem.Field> objections = BY_DEFAULT.objections("", WorkloadType.TRAINING, 1000, false);

        assertThat(objections).extracting(Problem.Field::field).containsExactly("priority", "preemptible");
        assertThat(objections.getFirst().message())
                .isEqualTo("priority 1000 is above 50, the highest that policy rnd allows for work of type training");
        assertThat(objections.getFirst().accepted()).startsWith("0 to 50");
        assertThat(objections.getLast().accepted()).startsWith("true");
    }

    @Test
    void theBoundsOfTheTypesDefaultsAreThoseOfTheTypes() {
        assertThat(WorkloadType.values()).allSatisfy(type -> assertThat(type.defaultPriority())
                .isBetween(SubmissionRights.LOWEST_TYPE_DEFAULT, SubmissionRights.HIGHEST_TYPE_DEFAULT));
    }
}
