package io.quartermaster.engine.model;

import java.math.BigDecimal;

/** Thousandths in words. */
public final class GpuFormat {
    private GpuFormat() {}

    /** Formats thousandths as a decimal without trailing zeros: 1500 is {@code 1.5}. */
    public static String decimal(long milli) {
        return BigDecimal.valueOf(milli, 3).stripTrailingZeros().toPlainString();
    }

    /** A number with a noun, which gets an s unless the number is 1. */
    public static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }

    /**
     * A number with a noun and a verb, both in the matching form: {@code 1 attempt holds}, {@code 2 attempts hold}.
     */
    public static String count(long number, String noun, String verb) {
        return count(number, noun) + " " + verb + (number == 1 ? "s" : "");
    }

    /** An amount of GPUs followed by "is" or "are". */
    public static String gpusAre(long gpuMilli) {
        return gpus(gpuMilli) + (gpuMilli == 1000 ? " is" : " are");
    }

    /** An amount of GPUs with its unit. */
    public static String gpus(long gpuMilli) {
        return decimal(gpuMilli) + (gpuMilli == 1000 ? " GPU" : " GPUs");
    }
}
