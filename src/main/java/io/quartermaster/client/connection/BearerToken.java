package io.quartermaster.client.connection;

import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.settings.SavedLogin;
import io.quartermaster.client.settings.TokenFile;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.regex.Pattern;

/** The access token that requests carry. */
public sealed interface BearerToken {

    /** The characters of a token (RFC 6750, section 2.1), and those of other encodings. */
    Pattern FORM = Pattern.compile("[A-Za-z0-9._~+/=-]+");

    /** A token that is valid for some seconds at least. Fails if there is none. */
    String current();

    /** A token other than the one that the service refused. Fails if there is none. */
    String afterRefusal(String refused);

    /** The token of the variable {@code QM_TOKEN}, which is never renewed. */
    record Given(String value) implements BearerToken {
        @Override
        public String current() {
            return value;
        }

        @Override
        public String afterRefusal(String refused) {
            throw new CommandFailure(
                    ExitStatus.NOT_SIGNED_IN, "the service does not accept the token in QM_TOKEN; it may have expired");
        }

        @Override
        public String toString() {
            return "the token in QM_TOKEN";
        }
    }

    /**
     * The token of a login in the file of tokens, which is renewed there.
     *
     * @param signIn the command that makes such a login
     */
    record Saved(TokenFile file, WebClient web, URI server, String tenant, String signIn) implements BearerToken {

        /** Longer than a request takes to arrive. */
        private static final Duration RESERVE = Duration.ofSeconds(15);

        @Override
        public String current() {
            SavedLogin login = file.find(server, tenant).orElseThrow(this::notSignedIn);
            return login.isValidAt(Instant.now().plus(RESERVE)) ? login.accessToken() : renewed(login.accessToken());
        }

        @Override
        public String afterRefusal(String refused) {
            return renewed(refused);
        }

        /** Renews the login, unless another process has done so meanwhile. */
        private String renewed(String old) {
            file.find(server, tenant)
                    .map(SavedLogin::tokenEndpoint)
                    .ifPresent(endpoint -> RealmLogin.requireEncryption(server, endpoint));
            Optional<SavedLogin> renewed = file.renew(
                    server,
                    tenant,
                    login -> login.accessToken().equals(old)
                            ? RealmLogin.renew(web, login).orElseThrow(this::ended)
                            : login);
            return renewed.map(SavedLogin::accessToken).orElseThrow(this::notSignedIn);
        }

        /** A server that does not answer is reported first: no sign-in can succeed there. */
        private CommandFailure notSignedIn() {
            RealmLogin.requireAnswer(web, server, tenant);
            return new CommandFailure(
                    ExitStatus.NOT_SIGNED_IN,
                    "you are not signed in to tenant " + tenant + " at " + server + ". Run: " + signIn);
        }

        private CommandFailure ended() {
            return new CommandFailure(
                    ExitStatus.NOT_SIGNED_IN,
                    "your login to tenant " + tenant + " at " + server + " has ended. Run: " + signIn);
        }
    }
}
