package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.RealmLogin;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.settings.SavedLogin;
import io.quartermaster.client.settings.ServerContext;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;

/** {@code qm logout}: ends the login, here and at the realm. */
@Command(
        name = "logout",
        description = "Ends your login to the tenant: at the realm, and in the file of tokens.",
        footer = "%nExample:%n  qm logout")
final class LogoutCommand extends PersonCommand {

    LogoutCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServerContext target = target();
        Optional<SavedLogin> login = tokens().remove(target.server(), target.tenant());
        if (login.isPresent()) {
            try {
                RealmLogin.end(web(), login.get());
            } catch (CommandFailure e) {
                err().println("qm: warning: the login is removed here, but continues at the realm: " + e.text());
            }
        }
        ObjectNode document = DocumentWriter.JSON
                .createObjectNode()
                .put("server", target.server().toString())
                .put("tenant", target.tenant())
                .put("wasSignedIn", login.isPresent());
        String where = "tenant " + target.tenant() + " at " + target.server();
        print(document, List.of(target.tenant()), () -> out().println(
                        login.isPresent()
                                ? "Signed out of " + where + "."
                                : "You were not signed in to " + where + "."));
        return ExitStatus.OK;
    }
}
