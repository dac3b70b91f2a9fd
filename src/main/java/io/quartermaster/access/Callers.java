package io.quartermaster.access;

import jakarta.enterprise.context.RequestScoped;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The caller of the current request, from the moment the gate let it through. */
@RequestScoped
public class Callers {

    private @Nullable Caller current;
    private Instant tokenExpiry = Instant.MIN;
    private @Nullable Proof proof;

    public Caller current() {
        Caller caller = current;
        if (caller == null) {
            throw new IllegalStateException("no request has passed the gate here");
        }
        return caller;
    }

    /** When the token of the request stops counting; a request that lasts longer ends then. */
    public Instant tokenExpiry() {
        return tokenExpiry;
    }

    /** What the current caller showed. */
    public Proof proof() {
        Proof shown = proof;
        if (shown == null) {
            throw new IllegalStateException("no request has passed the gate here");
        }
        return shown;
    }

    void set(Caller caller, Proof shown, Instant expiry) {
        this.current = caller;
        this.proof = shown;
        this.tokenExpiry = expiry;
    }
}
