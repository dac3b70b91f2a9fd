package io.quartermaster.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.UsageView;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class GpuCapacityTest {

    /**
     * Within a plan, work that moves gets its new place before all work in that place is evicted (seed 738 of the
     * random cells).
     */
    @Test
    void aGpuIsSharedByWhoeverStaysOnItNotByWhoLeft() {
        GpuCapacity device = new GpuCapacity(new Node.Device(0, "H100", 81_920, false), Pool.Sharing.TENANT);
        Allocation.Share leaving = Allocation.Share.whole(0);
        device.add(leaving, "leaving", UsageView.PROJECTED);
        device.add(new Allocation.Share(0, 163, Optional.empty()), "staying", UsageView.PROJECTED);
        device.remove(leaving, UsageView.PROJECTED);

        GpuRequest half = new GpuRequest.Fraction(1, 500);
        assertThat(device.findShare(half, "staying", Availability.AFTER_RELEASES))
                .isPresent();
        assertThat(device.findShare(half, "leaving", Availability.AFTER_RELEASES))
                .isEmpty();
    }
}
