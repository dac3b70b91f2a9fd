package io.quartermaster.platform;

import java.security.SecureRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * UUIDs of version 7 (RFC 9562, section 5.7, method 3): 48 bits of milliseconds, 12 bits of a counter within one
 * millisecond, 62 random bits. Ids of one process sort in the order in which they were made.
 */
public final class Ids {

    private static final SecureRandom RANDOM = new SecureRandom();
    /** Milliseconds shifted left by 12, plus the counter. It never decreases, even when the clock goes back. */
    private static final AtomicLong LAST = new AtomicLong();

    private Ids() {}

    public static UUID next() {
        long now = System.currentTimeMillis() << 12;
        long tick = LAST.updateAndGet(last -> Math.max(last + 1, now));
        long high = (tick >>> 12) << 16 | 0x7000L | tick & 0xFFFL;
        long low = RANDOM.nextLong() & 0x3FFF_FFFF_FFFF_FFFFL | 0x8000_0000_0000_0000L;
        return new UUID(high, low);
    }
}
