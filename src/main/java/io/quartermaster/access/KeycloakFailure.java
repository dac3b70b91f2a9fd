package io.quartermaster.access;

import io.quartermaster.platform.OutsideFailure;
import jakarta.ws.rs.ProcessingException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;

/** Keycloak was not reached, or did not do what it was asked. */
public final class KeycloakFailure extends RuntimeException implements OutsideFailure {

    private static final long serialVersionUID = 1L;
    private static final int MAX_BODY = 500;

    private final boolean away;

    KeycloakFailure(String message, boolean away) {
        super(message);
        this.away = away;
    }

    @Override
    public boolean isAway() {
        return away;
    }

    static KeycloakFailure of(WebApplicationException e) {
        int status = e.getResponse().getStatus();
        return new KeycloakFailure("Keycloak answered " + status + body(e.getResponse()), status >= 500);
    }

    private static String body(Response response) {
        try {
            String text = response.readEntity(String.class);
            return text == null || text.isBlank() ? "" : ": " + text.substring(0, Math.min(text.length(), MAX_BODY));
        } catch (ProcessingException | IllegalStateException alreadyRead) {
            return "";
        }
    }
}
