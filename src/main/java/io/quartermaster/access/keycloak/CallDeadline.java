package io.quartermaster.access.keycloak;

import java.time.Duration;

/** The moment at which a call to Keycloak is aborted, whatever its progress. */
record CallDeadline(Duration timeout, long atNanos) {

    static CallDeadline after(Duration timeout) {
        return new CallDeadline(timeout, System.nanoTime() + timeout.toNanos());
    }

    /** The remaining time, always positive; fails when the deadline has passed. */
    Duration remaining() {
        long nanos = atNanos - System.nanoTime();
        if (nanos <= 0) {
            throw timeoutFailure();
        }
        return Duration.ofNanos(nanos);
    }

    KeycloakFailure timeoutFailure() {
        return KeycloakFailure.unavailable("Keycloak did not answer within " + timeout);
    }
}
