package io.quartermaster.engine.placement;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.quota.When;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class DeviceSpaceTest {

    /** In a plan, moved work gets its new place before all that was there has been told to leave (seed 738 of the random cells). */
    @Test
    void aGpuIsSharedByWhoeverStaysOnItNotByWhoLeft() {
        DeviceSpace device = new DeviceSpace(new Node.Device(0, "H100", 81_920, false), Pool.Sharing.TENANT);
        Allocation.Share leaving = Allocation.Share.whole(0);
        device.add(leaving, "leaving", When.NEXT);
        device.add(new Allocation.Share(0, 163, Optional.empty()), "staying", When.NEXT);
        device.remove(leaving, When.NEXT);

        GpuRequest half = new GpuRequest.Fraction(1, 500);
        assertThat(device.offer(half, "staying", Horizon.LATER)).isPresent();
        assertThat(device.offer(half, "leaving", Horizon.LATER)).isEmpty();
    }
}
