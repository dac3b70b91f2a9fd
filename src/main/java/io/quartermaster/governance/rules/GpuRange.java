package io.quartermaster.governance.rules;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.platform.GpuAmount;
import java.util.OptionalInt;

/**
 * The GPUs that a workload may choose under a profile.
 *
 * @param leastGpuMilli what one worker counts as if the workload names no number; 0 where that is not known
 * @param any whether a worker has GPUs, or parts of them, at all
 * @param whole whether they are whole GPUs; parts and instances may add up to as much
 * @param most the most whole GPUs that it may name; empty where it may not choose
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

    /**
     * Whether a workload may name this number for each worker. It may always name the number that the profile gives.
     */
    public boolean allows(OptionalInt named) {
        return named.isEmpty()
                || whole && named.getAsInt() * GPU == leastGpuMilli
                || most.isPresent() && named.getAsInt() * GPU > leastGpuMilli && named.getAsInt() <= most.getAsInt();
    }

    /** Whether a workload may start with this smaller number: it must be in the range and not more than it requests. */
    public boolean allowsAtLeast(OptionalInt fewest, OptionalInt named) {
        return fewest.isEmpty()
                || allows(fewest)
                        && fewest.getAsInt() * GPU <= (named.isPresent() ? named.getAsInt() * GPU : leastGpuMilli);
    }

    /** The numbers of GPUs that the workload may start with, as the accepted values of a refusal. */
    public String acceptedAtLeast() {
        return most.isPresent()
                ? accepted() + ", not more than gpus"
                : "no minGpus: leave it out, or use a queue whose profile has a range";
    }

    /**
     * The reason why a number of GPUs to start with is refused.
     *
     * @param giver what gives a worker its GPUs, such as {@code queue rnd-1gpu}
     */
    public String refusalAtLeast(String giver, OptionalInt fewest) {
        return most.isPresent() && allows(fewest)
                ? "is more than gpus: a worker cannot start with more GPUs than it asks for"
                : refusal(giver);
    }

    /** The numbers of GPUs that the workload may name, as the accepted values of a refusal. */
    public String accepted() {
        return most.isPresent()
                ? "\"" + new GpuAmount(leastGpuMilli) + "\" to \"" + most.getAsInt() + "\", whole numbers"
                : "no gpus: leave it out, or use a queue whose profile has a range";
    }

    /**
     * The reason why another number of GPUs is refused.
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
