package io.quartermaster.platform.filters;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.bucket4j.TimeMeter;
import io.vertx.core.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class RateLimiterTest {

    private final AtomicLong nanos = new AtomicLong();
    private final RateLimiter<String> limiter = new RateLimiter<>(10, 3, 100, new TimeMeter() {
        @Override
        public long currentTimeNanos() {
            return nanos.get();
        }

        @Override
        public boolean isWallClockBased() {
            return false;
        }
    });

    @Test
    void aKeyThatUsedUpItsBurstWaitsForItsRateAndNoOtherDoes() {
        assertThat(taken("a", 5)).isEqualTo(3);
        assertThat(taken("b", 1)).isEqualTo(1);

        nanos.addAndGet(Duration.ofMillis(200).toNanos());

        assertThat(taken("a", 5)).isEqualTo(2);
    }

    @Test
    void whatIsGivenBackCanBeTakenAgain() {
        for (int i = 0; i < 10; i++) {
            assertThat(limiter.tryAcquire("a")).isTrue();
            limiter.release("a");
        }

        assertThat(taken("a", 5)).isEqualTo(3);
    }

    @Test
    void givingBackMoreThanWasTakenAddsNothing() {
        limiter.release("a");

        assertThat(taken("a", 5)).isEqualTo(3);
    }

    @Test
    void anIpv6SiteIsOneAddressAndAnIpv4HostIsOne() {
        assertThat(network("2001:db8:0:1::5")).isEqualTo(network("2001:db8:0:1:ffff::9"));
        assertThat(network("2001:db8:0:1::5")).isNotEqualTo(network("2001:db8:0:2::5"));
        assertThat(network("192.0.2.1")).isNotEqualTo(network("192.0.2.2"));
    }

    private static String network(String host) {
        return RequestRateLimiter.network(SocketAddress.inetSocketAddress(1, host));
    }

    private int taken(String key, int tries) {
        int taken = 0;
        for (int i = 0; i < tries; i++) {
            taken += limiter.tryAcquire(key) ? 1 : 0;
        }
        return taken;
    }
}
