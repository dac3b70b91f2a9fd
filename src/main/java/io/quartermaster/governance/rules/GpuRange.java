package io.quartermaster.governance.rules;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.platform.GpuAmount;
import java.util.OptionalInt;

/**
 * What a workload may choose of a profile's GPUs.
 *
 * @param leastGpuMilli what one worker counts as that names nothing; 0 where that is not known
 * @param any whether a worker has GPUs, or parts of them, at all
 * @param whole whether they are whole ones; parts and instances may add up to as much
 * @param most up to how many whole GPUs it may name; empty where it may not choose
 */
public record GpuRange(long leastGpuMilli, boolean any, boolean whole, OptionalInt most) {

    private static final long GPU = 1_000;

    static GpuRange of(Profile profile) {
        return new GpuRange(
                profile.gpuMilli().orElse(0),
                profile.hasGpus(),
                profile.gpus() instanceof GpuRequest.Whole,
                profile.maxGpus());
    }

    /** Whether a workload may name so many for each worker; what a worker has anyway it may. */
    public boolean allows(OptionalInt named) {
        return named.isEmpty()
                || whole && named.getAsInt() * GPU == leastGpuMilli
                || most.isPresent() && named.getAsInt() * GPU > leastGpuMilli && named.getAsInt() <= most.getAsInt();
    }

    /** With how few it may say to start, that being in the range and not more than it asks for. */
    public boolean allowsAtLeast(OptionalInt fewest, OptionalInt named) {
        return fewest.isEmpty()
                || allows(fewest)
                        && fewest.getAsInt() * GPU <= (named.isPresent() ? named.getAsInt() * GPU : leastGpuMilli);
    }

    /** What it may say to start with, for an answer that refuses something else. */
    public String acceptedAtLeast() {
        return most.isPresent()
                ? accepted() + ", not more than gpus"
                : "no minGpus: leave it out, or use a queue whose profile has a range";
    }

    /**
     * Why a number of GPUs to start with is refused.
     *
     * @param giver what gives a worker its GPUs, such as {@code queue rnd-1gpu}
     */
    public String refusalAtLeast(String giver, OptionalInt fewest) {
        return most.isPresent() && allows(fewest)
                ? "is more than gpus: a worker cannot start with more GPUs than it asks for"
                : refusal(giver);
    }

    /** What it may name, for an answer that refuses something else. */
    public String accepted() {
        return most.isPresent()
                ? "\"" + new GpuAmount(leastGpuMilli) + "\" to \"" + most.getAsInt() + "\", whole numbers"
                : "no gpus: leave it out, or use a queue whose profile has a range";
    }

    /**
     * Why another number of GPUs is refused.
     *
     * @param giver what gives a worker its GPUs, such as {@code queue rnd-1gpu}
     */
    public String refusal(String giver) {
        if (most.isPresent()) {
            return giver + " gives a worker " + new GpuAmount(leastGpuMilli) + " to "
                    + GpuFormat.gpus(most.getAsInt() * GPU);
        }
        return whole
                ? giver + " always gives a worker " + GpuFormat.gpus(leastGpuMilli)
                : giver + " gives a worker " + (any ? "parts of GPUs" : "no GPUs") + ", as its profile says";
    }
}
