package io.quartermaster.workloads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.ws.rs.core.Response;
import org.junit.jupiter.api.Test;

/** Every submission counts once, with all its workloads, under its result. */
class SubmissionCountsTest {

    private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    private final SubmissionCounts counts = new SubmissionCounts(metrics);

    @Test
    void aBatchCountsWithAllItHolds() {
        counts.count(3, Uni.createFrom().nullItem()).await().indefinitely();
        assertThat(counted("accepted")).isEqualTo(3);
    }

    @Test
    void refusalsCountByTheirCauseAndFailuresApart() {
        fail(ProblemException.of(429, "queue-full", "full"));
        fail(ProblemException.of(429, "rate-exceeded", "fast"));
        fail(ProblemException.notFound());
        fail(ProblemException.conflict("queue-changed", "changed"));
        fail(new IllegalStateException("broken"));

        assertThat(counted("queue-full")).isEqualTo(1);
        assertThat(counted("rate-exceeded")).isEqualTo(1);
        assertThat(counted("closed")).isEqualTo(1);
        assertThat(counted("refused")).isEqualTo(1);
        assertThat(counted("failed")).isEqualTo(1);
        assertThat(counted("accepted")).isZero();
    }

    private void fail(RuntimeException failure) {
        Uni<Response> call = counts.count(1, Uni.createFrom().failure(failure));
        assertThatThrownBy(() -> call.await().indefinitely()).isSameAs(failure);
    }

    private double counted(String outcome) {
        return metrics.get("quartermaster.submissions")
                .tag("outcome", outcome)
                .counter()
                .count();
    }
}
