package io.quartermaster.capacity;

import io.quartermaster.platform.GpuAmount;
import java.util.List;

/** Reservations may add up to more than there is (a node may be down, or capacity oversold): said, not refused. */
public final class Oversold {

    private Oversold() {}

    /** What to tell whoever grants a part of the pool; amounts in thousandths of a GPU. */
    public static List<String> warnings(String pool, long reservedGpuMilli, long upGpuMilli) {
        return reservedGpuMilli <= upGpuMilli
                ? List.of()
                : List.of("reservations in pool " + pool + " add up to " + new GpuAmount(reservedGpuMilli)
                        + " GPUs, and " + new GpuAmount(upGpuMilli) + " are up");
    }
}
