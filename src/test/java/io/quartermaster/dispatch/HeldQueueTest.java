package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.dispatch.lifecycle.WorkloadRecord;
import io.quartermaster.dispatch.read.EngineFacts;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.platform.TenantId;
import io.quartermaster.workloads.DesiredState;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class HeldQueueTest {

    private final EngineFacts facts = new EngineFacts(pool -> new PoolId("h100"), policy -> QuotaPath.of("acme"));

    @Test
    void whatWaitsIsToldAsHeldAndWhatRunsIsNot() {
        WorkloadRecord waits = Records.inHeldQueue("waiting", Optional.empty(), false, Optional.empty());
        WorkloadRecord runs = Records.inHeldQueue(
                "running", Optional.of(Records.attempt("running", List.of(new UUID(5, 5)))), false, Optional.empty());

        assertThat(facts.asStored(waits, 0).held()).isTrue();
        assertThat(facts.asStored(runs, 0).held()).isFalse();
        assertThat(facts.asStored(Records.waiting(new TenantId("acme"), 1, 1_000), 0)
                        .held())
                .isFalse();
    }

    @Test
    void whoIsMovedGoesOnInItsNewPlace() {
        Optional<String> place = Optional.of("{\"pool\": \"h100\", \"devices\": [{\"worker\": 0, \"node_id\": "
                + "\"00000000-0000-0005-0000-000000000005\","
                + " \"device_index\": 0, \"gpu_milli\": 1000}]}");

        assertThat(facts.asStored(Records.inHeldQueue("waiting", Optional.empty(), true, place), 0)
                        .held())
                .isFalse();
        assertThat(facts.asStored(Records.inHeldQueue("waiting", Optional.empty(), true, Optional.empty()), 0)
                        .held())
                .as("evicted, without a nominated place")
                .isTrue();
        assertThat(facts.asStored(Records.inHeldQueue("waiting", Optional.empty(), false, place), 0)
                        .held())
                .as("it was nominated before the queue was held")
                .isTrue();
    }

    @Test
    void whatItsQueueHoldsAsksForNothingThatWasReserved() {
        assertThat(Records.inHeldQueue("waiting", Optional.empty(), false, Optional.empty())
                        .isHeldInQueue())
                .isTrue();
        assertThat(Records.workload("held", DesiredState.HOLD, PreemptionAction.REQUEUE, Optional.empty())
                        .isHeldInQueue())
                .isFalse();
    }
}
