package io.quartermaster.client.connection;

import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.ReadableDuration;
import io.quartermaster.client.output.TextStyle;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Supplier;

/**
 * Repeats the requests of a command that watches while the service is away, with pauses that become longer. Each outage
 * is reported once.
 */
public final class OutagePatience {

    /** How long an outage may last if a person states no time. */
    public static final Duration DEFAULT = Duration.ofMinutes(10);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    private final PrintWriter err;
    private final Duration longest;

    /** @param longest how long one outage may last before a request fails */
    public OutagePatience(PrintWriter err, Duration longest) {
        this.err = err;
        this.longest = longest;
    }

    /** The answer to a request. Fails like the request, but not with {@link ExitStatus#UNAVAILABLE} before its time. */
    public <T> T get(Supplier<T> request) {
        return get(request, longest);
    }

    /** As {@link #get(Supplier)}, for requests without one answer. */
    public void run(Runnable requests) {
        get(() -> {
            requests.run();
            return true;
        });
    }

    /** As {@link #get(Supplier)}, with another longest outage. */
    public <T> T get(Supplier<T> request, Duration longestNow) {
        long begun = System.nanoTime();
        Duration pause = FIRST_PAUSE;
        boolean reported = false;
        while (true) {
            try {
                return request.get();
            } catch (CommandFailure e) {
                Duration left = longestNow.minusNanos(System.nanoTime() - begun);
                if (e.status() != ExitStatus.UNAVAILABLE || !left.isPositive()) {
                    throw e;
                }
                if (!reported) {
                    reported = true;
                    err.println("qm: " + TextStyle.printable(e.text()) + "; asking again for "
                            + ReadableDuration.format(longestNow));
                    err.flush();
                }
                sleep(pause.compareTo(left) < 0 ? pause : left);
                pause = pause.multipliedBy(2).compareTo(LONGEST_PAUSE) < 0 ? pause.multipliedBy(2) : LONGEST_PAUSE;
            }
        }
    }

    private static void sleep(Duration length) {
        try {
            Thread.sleep(length);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CommandFailure(ExitStatus.FAILED, "interrupted");
        }
    }
}
