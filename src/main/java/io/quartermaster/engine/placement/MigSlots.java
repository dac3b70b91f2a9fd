package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.GpuRequest;
import java.util.OptionalInt;

/**
 * Where a MIG instance may lie on a GPU. A GPU has eight memory slices; an instance covers 1, 2, 4 or 8 of them and
 * begins only where NVIDIA's placement table lets it (MIG user guide, A100, H100, H200 and B200 tables).
 */
final class MigSlots {
    private static final int SLICES = 8;

    private MigSlots() {}

    /**
     * How many memory slices the instance covers on a GPU of this size; empty when it is not made there. Where the size
     * is not known, as many as the profile with the least memory for its compute slices covers.
     */
    static OptionalInt slices(GpuRequest.Mig mig, long deviceMemoryMiB) {
        int least =
                switch (mig.computeSlices()) {
                    case 1 -> 1;
                    case 2 -> 2;
                    case 3, 4 -> 4;
                    case 7 -> SLICES;
                    default -> SLICES + 1;
                };
        if (least > SLICES) {
            return OptionalInt.empty();
        }
        if (deviceMemoryMiB == 0) {
            return OptionalInt.of(least);
        }
        long deviceGb = Math.max(1, deviceMemoryMiB / 1024);
        int slices = (int) ((SLICES * mig.memoryGb() + deviceGb / 2) / deviceGb);
        boolean made = slices == least || (mig.computeSlices() == 1 && slices == 2);
        return made ? OptionalInt.of(slices) : OptionalInt.empty();
    }

    /** The last legal first slice at which the instance fits beside what is occupied; the front stays free longest. */
    static OptionalInt firstSlice(GpuRequest.Mig mig, int slices, int occupied) {
        int last = slices == 1 ? 6 : mig.computeSlices() == 2 ? 4 : mig.computeSlices() == 4 ? 0 : SLICES - slices;
        for (int first = last; first >= 0; first -= slices) {
            if ((occupied & mask(first, slices)) == 0) {
                return OptionalInt.of(first);
            }
        }
        return OptionalInt.empty();
    }

    static int mask(int first, int slices) {
        return ((1 << slices) - 1) << first;
    }
}
