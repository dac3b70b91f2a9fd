package io.quartermaster.client.settings;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A login: the tokens of a person, or the credentials of a program.
 *
 * @param tokenEndpoint where the tokens are renewed
 * @param endSessionEndpoint where the login ends; null if the issuer names none
 * @param clientId the client of the realm that the tokens are for
 * @param clientSecret the secret of a program's client; null for people
 * @param expiresAt end of the access token, in seconds since the epoch
 * @param refreshToken null for programs, which sign in again with their secret
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record SavedLogin(
        String issuer,
        String tokenEndpoint,
        @Nullable String endSessionEndpoint,
        String clientId,
        @Nullable String clientSecret,
        String accessToken,
        long expiresAt,
        @Nullable String refreshToken) {

    /** Whether the access token is valid until this moment. */
    public boolean isValidAt(Instant moment) {
        return moment.getEpochSecond() < expiresAt;
    }

    @Override
    public String toString() {
        return "login of client " + clientId + " at " + issuer;
    }
}
