package io.quartermaster.access;

import jakarta.enterprise.context.RequestScoped;
import org.jspecify.annotations.Nullable;

/** The caller of the current request, from the moment the gate let it through. */
@RequestScoped
public class Callers {

    private @Nullable Caller current;

    public Caller current() {
        Caller caller = current;
        if (caller == null) {
            throw new IllegalStateException("no request has passed the gate here");
        }
        return caller;
    }

    void set(Caller caller) {
        current = caller;
    }
}
