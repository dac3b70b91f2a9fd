package io.quartermaster.engine.model;

/** The GPUs of one worker. */
public sealed interface GpuRequest {

    /**
     * Whole GPUs of one node; 0 for work without GPUs.
     *
     * @param fewest the smallest number with which it starts if it cannot have {@code count}; equal to {@code count} if
     *     it accepts no fewer
     */
    record Whole(int count, int fewest) implements GpuRequest {
        public Whole {
            if (count < 0) {
                throw new IllegalArgumentException("a number of GPUs must not be negative: " + count);
            }
            if (fewest > count || fewest < Math.min(1, count)) {
                throw new IllegalArgumentException("the smallest number of GPUs must be 1 to " + count + ": " + fewest);
            }
        }

        public boolean takesFewer() {
            return fewest < count;
        }
    }

    /** An equal part of each of several GPUs of one node. */
    record Fraction(int devices, int gpuMilliEach) implements GpuRequest {
        public Fraction {
            if (devices < 1 || gpuMilliEach < 1 || gpuMilliEach > 999) {
                throw new IllegalArgumentException("a fraction must be 1 to 999 thousandths of at least one GPU");
            }
        }
    }

    /** An equal amount of memory on each of several GPUs of one node; counts as its part of the GPU, rounded up. */
    record Memory(int devices, long memoryMiBEach) implements GpuRequest {
        public Memory {
            if (devices < 1 || memoryMiBEach < 1) {
                throw new IllegalArgumentException("a share by memory must be at least 1 MiB of at least one GPU");
            }
        }
    }

    /** One MIG instance; counts as its compute slices of 7, rounded down. */
    record Mig(String profile) implements GpuRequest {
        public Mig {
            if (!profile.matches("[1-7]g\\.[0-9]+gb")) {
                throw new IllegalArgumentException("a MIG profile must have the form 1g.10gb: " + profile);
            }
        }

        public int computeSlices() {
            return profile.charAt(0) - '0';
        }

        public int memoryGb() {
            return Integer.parseInt(profile.substring(3, profile.length() - 2));
        }
    }

    /** A request for exactly this number of whole GPUs. */
    static GpuRequest whole(int count) {
        return new Whole(count, count);
    }
}
