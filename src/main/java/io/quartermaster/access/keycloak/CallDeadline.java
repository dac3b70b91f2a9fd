package io.quartermaster.access.keycloak;

import java.time.Duration;

/** The moment at which a call to Keycloak is given up, whatever it is doing then. */
record CallDeadline(Duration patience, long atNanos) {

    static CallDeadline in(Duration patience) {
        return new CallDeadline(patience, System.nanoTime() + patience.toNanos());
    }

    /** More than nothing; fails when the moment has passed. */
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
