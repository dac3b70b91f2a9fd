package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.commands.TokenClaims;
import io.quartermaster.client.connection.RealmLogin;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.FileFailure;
import io.quartermaster.client.output.ReadableDuration;
import io.quartermaster.client.output.TextStyle;
import io.quartermaster.client.settings.SavedLogin;
import io.quartermaster.client.settings.ServerContext;
import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code qm login}: signs in at the tenant's realm. */
@Command(
        name = "login",
        description = {
            "Signs you in to the tenant: open the printed address in any browser, and confirm the code.",
            "The login is renewed by itself, and lasts until qm logout or until it is unused for weeks. Programs sign in with a "
                    + "client and its secret, which is in QM_CLIENT_SECRET or in a file."
        },
        footer = {"%nExample:%n", "  qm login", "  QM_CLIENT_SECRET=... qm login --client-id automation"})
final class LoginCommand extends PersonCommand {

    private static final String SECRET_VARIABLE = "QM_CLIENT_SECRET";

    @Option(
            names = "--client-id",
            paramLabel = "ID",
            description = "Sign in as a program, as this client of the tenant's realm")
    private @Nullable String clientId;

    @Option(
            names = "--client-secret-file",
            paramLabel = "FILE",
            description = "File with the client's secret. Default: the variable " + SECRET_VARIABLE)
    private @Nullable Path secretFile;

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description = "Sign in with a name and a password, which is asked for or read from standard input. "
                    + "Only a demonstration accepts that")
    private @Nullable String user;

    LoginCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        if (user != null && clientId != null) {
            throw CommandFailure.usage("give --user or --client-id, not both");
        }
        ServerContext target = target();
        // A wrong secret file is reported before a request is sent.
        @Nullable String secret = clientId == null ? null : secret();
        warnIfUnencrypted(target);
        RealmLogin realm = RealmLogin.of(web(), target.server(), target.tenant());
        if (realm.isUnencrypted()) {
            warnOfPlainText(realm.issuer());
        }
        SavedLogin login;
        if (clientId != null && secret != null) {
            login = realm.withSecret(clientId, secret);
        } else if (user != null) {
            login = realm.withPassword(user, password(user));
        } else {
            login = realm.withDevice(this::prompt);
        }
        tokens().put(target.server(), target.tenant(), login);
        JsonNode claims = TokenClaims.of(login.accessToken());
        String name = TokenClaims.username(claims);
        print(
                WhoamiCommand.document(target.server().toString(), target.tenant(), claims),
                List.of(name),
                () -> out().println(
                                "Signed in to tenant " + target.tenant() + " as " + TextStyle.printable(name) + "."));
        return ExitStatus.OK;
    }

    private void prompt(RealmLogin.DeviceCode code) {
        err().println("Open this address in a browser, on any device:");
        err().println();
        err().println("  "
                + TextStyle.printable(code.addressWithCode() == null ? code.address() : code.addressWithCode()));
        err().println();
        err().println("and confirm the code " + style().bold(TextStyle.printable(code.userCode())) + " within "
                + ReadableDuration.format(code.validFor()) + ".");
        err().flush();
    }

    private String secret() {
        if (secretFile != null) {
            try {
                return Files.readString(secretFile).strip();
            } catch (IOException e) {
                throw CommandFailure.usage(FileFailure.text(secretFile, e));
            }
        }
        String value =
                environment().variables().getOrDefault(SECRET_VARIABLE, "").strip();
        if (value.isEmpty()) {
            throw CommandFailure.usage(
                    "--client-id needs the client's secret, in " + SECRET_VARIABLE + " or in --client-secret-file");
        }
        return value;
    }

    private String password(String name) {
        Console console = environment().terminal() ? System.console() : null;
        if (console != null) {
            char[] typed = console.readPassword("Password of %s: ", name);
            if (typed == null || typed.length == 0) {
                throw CommandFailure.usage("a password is needed");
            }
            return new String(typed);
        }
        try {
            String line =
                    new BufferedReader(new InputStreamReader(environment().input(), StandardCharsets.UTF_8)).readLine();
            if (line == null || line.isEmpty()) {
                throw CommandFailure.usage("--user reads the password from standard input, which is empty");
            }
            return line;
        } catch (IOException e) {
            throw CommandFailure.usage("cannot read the password: " + e.getMessage());
        }
    }
}
