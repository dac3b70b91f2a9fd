package io.quartermaster.access;

import jakarta.enterprise.context.RequestScoped;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The caller of the current request, from the moment the gate let it through. */
@RequestScoped
public class CurrentCaller {

    private @Nullable Caller current;
    private Instant tokenExpiry = Instant.MIN;
    private @Nullable Credential credential;

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
    public Credential proof() {
        Credential shown = credential;
        if (shown == null) {
            throw new IllegalStateException("no request has passed the gate here");
        }
        return shown;
    }

    void set(Caller caller, Credential shown, Instant expiry) {
        this.current = caller;
        this.credential = shown;
        this.tokenExpiry = expiry;
    }
}
