package io.quartermaster.access;

import jakarta.enterprise.context.RequestScoped;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The caller of the current request, known after the gate has let the request pass. */
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

    /** The expiry of the request's token; a longer request ends at this time. */
    public Instant tokenExpiry() {
        return tokenExpiry;
    }

    /** The credential of the current caller. */
    public Credential credential() {
        Credential verified = credential;
        if (verified == null) {
            throw new IllegalStateException("no request has passed the gate here");
        }
        return verified;
    }

    void set(Caller caller, Credential verified, Instant expiry) {
        this.current = caller;
        this.credential = verified;
        this.tokenExpiry = expiry;
    }
}
