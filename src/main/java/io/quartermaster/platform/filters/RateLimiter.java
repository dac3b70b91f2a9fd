package io.quartermaster.platform.filters;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;

/**
 * A token bucket for each key, in the memory of this replica. At most {@code keysLimit} buckets are kept. Beyond that,
 * the least recently used are forgotten, and their keys begin with a full bucket.
 *
 * @param <K> the callers whose rate is limited
 */
final class RateLimiter<K> {

    private final Bandwidth bandwidth;
    private final TimeMeter clock;
    private final Cache<K, Bucket> buckets;

    RateLimiter(int perSecond, int burst, int keysLimit) {
        this(perSecond, burst, keysLimit, TimeMeter.SYSTEM_NANOTIME);
    }

    RateLimiter(int perSecond, int burst, int keysLimit, TimeMeter clock) {
        this.bandwidth = Bandwidth.builder()
                .capacity(burst)
                .refillGreedy(perSecond, Duration.ofSeconds(1))
                .build();
        this.clock = clock;
        this.buckets = Caffeine.newBuilder()
                .maximumSize(keysLimit)
                // By then, an unused bucket is full again.
                .expireAfterAccess(Duration.ofSeconds(burst / perSecond + 60L))
                .build();
    }

    /** Takes a token; false when the bucket is empty. */
    boolean tryAcquire(K key) {
        return bucket(key).tryConsume(1);
    }

    /** Gives a token back. */
    void release(K key) {
        bucket(key).addTokens(1);
    }

    /** Takes all tokens, and as many future ones as fill a bucket. */
    void drain(K key) {
        bucket(key).tryConsumeAsMuchAsPossible();
        bucket(key).consumeIgnoringRateLimits(bandwidth.getCapacity());
    }

    /** Fills the bucket of the key. */
    void reset(K key) {
        buckets.invalidate(key);
    }

    private Bucket bucket(K key) {
        return buckets.get(key, unknown -> Bucket.builder()
                .addLimit(bandwidth)
                .withCustomTimePrecision(clock)
                .build());
    }
}
