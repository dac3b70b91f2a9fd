package io.quartermaster.engine;

import java.math.BigDecimal;

/** Thousandths in words. */
public final class Amounts {
    private Amounts() {}

    /** Thousandths as a decimal without needless zeros: 1500 is {@code 1.5}. */
    public static String decimal(long milli) {
        return BigDecimal.valueOf(milli, 3).stripTrailingZeros().toPlainString();
    }

    /** An amount of GPUs, and that they are. */
    public static String gpusAre(long gpuMilli) {
        return gpus(gpuMilli) + (gpuMilli == 1000 ? " is" : " are");
    }

    /** An amount of GPUs with its unit. */
    public static String gpus(long gpuMilli) {
        return decimal(gpuMilli) + (gpuMilli == 1000 ? " GPU" : " GPUs");
    }
}
