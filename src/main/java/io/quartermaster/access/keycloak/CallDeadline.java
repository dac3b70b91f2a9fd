package io.quartermaster.access.keycloak;

import java.time.Duration;

/** The moment at which a call to Keycloak is aborted, whatever its progress. */
record CallDeadline(Duration patience, long atNanos) {

    static CallDeadline in(Duration patience) {
        return new CallDeadline(patience, System.nanoTime() + patience.toNanos());
    }

    /** The remaining time, always positive; fails when the deadline has passed. */
    Duration left() {
        long nanos = atNanos - System.nanoTime();
        if (nanos <= 0) {
            throw passed();
        }
        return Duration.ofNanos(nanos);
    }

    KeycloakFailure passed() {
        return KeycloakFailure.away("Keycloak did not answer within " + patience);
    }
}
