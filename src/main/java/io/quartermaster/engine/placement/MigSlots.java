package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.GpuRequest;
import java.util.OptionalInt;

/**
 * The legal placements of MIG instances on a GPU. A GPU has eight memory slices, and an instance covers 1, 2, 4 or 8 of
 * them. It begins only where NVIDIA's placement table allows (MIG user guide, tables of A100, H100, H200 and B200).
 */
final class MigSlots {
    private static final int SLICES_PER_GPU = 8;

    private MigSlots() {}

    /**
     * The number of memory slices that the instance covers on a GPU of the given size; empty if such a GPU does not
     * offer the profile. If the size is unknown, the profile with the least memory for its compute slices decides.
     */
    static OptionalInt slices(GpuRequest.Mig mig, long deviceMemoryMiB) {
        int least =
                switch (mig.computeSlices()) {
                    case 1 -> 1;
                    case 2 -> 2;
                    case 3, 4 -> 4;
                    case 7 -> SLICES_PER_GPU;
                    default -> SLICES_PER_GPU + 1;
                };
        if (least > SLICES_PER_GPU) {
            return OptionalInt.empty();
        }
        if (deviceMemoryMiB == 0) {
            return OptionalInt.of(least);
        }
        long deviceGb = Math.max(1, deviceMemoryMiB / 1024);
        int slices = (int) ((SLICES_PER_GPU * mig.memoryGb() + deviceGb / 2) / deviceGb);
        boolean made = slices == least || (mig.computeSlices() == 1 && slices == 2);
        return made ? OptionalInt.of(slices) : OptionalInt.empty();
    }

    /**
     * The last legal first slice at which the instance fits beside the occupied slices; the front stays free longest.
     */
    static OptionalInt firstSlice(GpuRequest.Mig mig, int slices, int occupied) {
        int last =
                slices == 1 ? 6 : mig.computeSlices() == 2 ? 4 : mig.computeSlices() == 4 ? 0 : SLICES_PER_GPU - slices;
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
