package io.quartermaster.testing;

import io.quarkus.test.junit.callback.QuarkusTestBeforeClassCallback;
import java.time.Duration;
import org.awaitility.Awaitility;

/**
 * Has Awaitility look immediately, and then more often. By default it looks for the first time after a tenth of a
 * second, although most conditions hold by then. A test that states its own intervals keeps them.
 */
public final class PromptAwaits implements QuarkusTestBeforeClassCallback {

    private static final Duration INTERVAL = Duration.ofMillis(50);

    @Override
    public void beforeClass(Class<?> testClass) {
        Awaitility.setDefaultPollDelay(Duration.ZERO);
        Awaitility.setDefaultPollInterval(INTERVAL);
    }
}
