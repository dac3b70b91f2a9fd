package io.quartermaster.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.workloads.WorkloadState.AfterPreemption;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class LifecycleTest {

    private static final List<String> WORKLOAD_WORDS =
            List.of("held", "waiting", "starting", "running", "stopping", "paused", "succeeded", "failed", "cancelled");

    @Test
    void everyWordOfAWorkloadReadsBackAsItself() {
        assertThat(WORKLOAD_WORDS)
                .allSatisfy(word -> assertThat(WorkloadState.of(word).word()).isEqualTo(word));
        assertThat(leaves(WorkloadState.class)).hasSameSizeAs(WORKLOAD_WORDS);
    }

    @Test
    void everyWordOfAnAttemptReadsBackAsItself() {
        assertThat(List.of("bound", "starting", "running", "stopping")).allSatisfy(word -> assertThat(
                        WorkloadAttemptState.of(word, Optional.empty()).word())
                .isEqualTo(word));
        assertThat(Arrays.asList(AttemptOutcome.values())).allSatisfy(outcome -> {
            assertThat(AttemptOutcome.of(outcome.word())).isEqualTo(outcome);
            assertThat(WorkloadAttemptState.of("ended", Optional.of(outcome)))
                    .isEqualTo(new WorkloadAttemptState.Ended(outcome));
        });
    }

    @Test
    void anAttemptHasAnOutcomeWhenItEndedAndOnlyThen() {
        assertThatThrownBy(() -> WorkloadAttemptState.of("ended", Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> WorkloadAttemptState.of("running", Optional.of(AttemptOutcome.FAILED)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void onlyAWorkloadWithAnAttemptSaysWhatFollows() {
        assertThat(offered(WorkloadState.class))
                .containsEntry("Starting", "WithoutAttempt")
                .containsEntry("Running", "WithoutAttempt")
                .containsEntry("Stopping", "WithoutAttempt")
                .containsEntry("Waiting", "")
                .containsEntry("Succeeded", "");
    }

    @Test
    void statesOfAnAttemptOfferOnlyTheLegalSteps() {
        assertThat(offered(WorkloadAttemptState.class))
                .isEqualTo(new TreeMap<>(Map.of(
                        "Bound", "Ended Running Starting Stopping",
                        "Starting", "Ended Running Stopping",
                        "Running", "Ended Stopping",
                        "Stopping", "Ended",
                        "Ended", "")));
    }

    @Test
    void whatIsPreemptedOrLostWaitsAgainUnlessWishedOtherwise() {
        WorkloadState.WithAttempt stopping = new WorkloadState.Stopping();
        for (AttemptOutcome outcome : List.of(AttemptOutcome.PREEMPTED, AttemptOutcome.LOST)) {
            assertThat(stopping.ended(outcome, DesiredState.RUN, AfterPreemption.REQUEUE))
                    .isEqualTo(new WorkloadState.Waiting());
            assertThat(stopping.ended(outcome, DesiredState.HOLD, AfterPreemption.REQUEUE))
                    .isEqualTo(new WorkloadState.Held());
            assertThat(stopping.ended(outcome, DesiredState.CANCEL, AfterPreemption.REQUEUE))
                    .isEqualTo(new WorkloadState.Cancelled());
        }
    }

    @Test
    void whatIsPausedGoesOnWhereItIsUnlessItIsNotToRun() {
        WorkloadState.WithAttempt stopping = new WorkloadState.Stopping();
        for (AfterPreemption after : AfterPreemption.values()) {
            assertThat(stopping.ended(AttemptOutcome.PAUSED, DesiredState.RUN, after))
                    .isEqualTo(new WorkloadState.Paused());
            assertThat(stopping.ended(AttemptOutcome.PAUSED, DesiredState.HOLD, after))
                    .isEqualTo(new WorkloadState.Held());
            assertThat(stopping.ended(AttemptOutcome.PAUSED, DesiredState.CANCEL, after))
                    .isEqualTo(new WorkloadState.Cancelled());
        }
    }

    @Test
    void aPolicyMayEndWhatIsPreemptedButNotWhatIsLost() {
        WorkloadState.WithAttempt running = new WorkloadState.Running();
        assertThat(running.ended(AttemptOutcome.PREEMPTED, DesiredState.RUN, AfterPreemption.END))
                .isEqualTo(new WorkloadState.Cancelled());
        assertThat(running.ended(AttemptOutcome.LOST, DesiredState.RUN, AfterPreemption.END))
                .isEqualTo(new WorkloadState.Waiting());
    }

    @Test
    void itsOwnEndDecidesWhateverWasWished() {
        WorkloadState.WithAttempt stopping = new WorkloadState.Stopping();
        for (DesiredState desiredState : DesiredState.values()) {
            assertThat(stopping.ended(AttemptOutcome.SUCCEEDED, desiredState, AfterPreemption.REQUEUE))
                    .isEqualTo(new WorkloadState.Succeeded());
            assertThat(stopping.ended(AttemptOutcome.OUT_OF_MEMORY, desiredState, AfterPreemption.REQUEUE))
                    .isEqualTo(new WorkloadState.Failed());
        }
    }

    @Test
    void aServiceRunsWithoutGpusOnly() {
        assertThat(WorkloadType.SERVICE.fits(false)).isTrue();
        assertThat(WorkloadType.SERVICE.fits(true)).isFalse();
        assertThat(WorkloadType.TRAINING.fits(true)).isTrue();
    }

    /** For each state, the types of the states that its own steps lead to, in alphabetical order. */
    private static Map<String, String> offered(Class<?> states) {
        Map<String, String> steps = new TreeMap<>();
        for (Class<?> state : leaves(states)) {
            steps.put(
                    state.getSimpleName(),
                    Arrays.stream(state.getMethods())
                            .map(Method::getReturnType)
                            .filter(states::isAssignableFrom)
                            .map(Class::getSimpleName)
                            .collect(Collectors.toCollection(TreeSet::new))
                            .stream()
                            .collect(Collectors.joining(" ")));
        }
        return steps;
    }

    private static Set<Class<?>> leaves(Class<?> type) {
        Class<?>[] permitted = type.getPermittedSubclasses();
        return permitted == null
                ? Set.of(type)
                : Arrays.stream(permitted).flatMap(p -> leaves(p).stream()).collect(Collectors.toSet());
    }
}
