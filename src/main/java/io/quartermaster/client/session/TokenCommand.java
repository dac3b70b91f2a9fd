package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.commands.TokenClaims;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import java.time.Instant;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code qm token}: prints the access token of the login, for other programs. */
@Command(
        name = "token",
        description = {
            "Prints an access token of your login, for a call of the API with another program.",
            "Every person and program with a login can use it. The token lives for some minutes, as the realm decides; "
                    + "qm renews it first if it is nearly over. A holder of the token acts as you until then, so put it"
                    + " into no file and no job."
        },
        footer = {
            "%nExamples:%n",
            "  qm token",
            "  curl -H \"Authorization: Bearer $(qm token)\" https://qm.example.org/v1/tenants/acme"
        })
final class TokenCommand extends PersonCommand {

    TokenCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        String token = service.token().current();
        JsonNode claims = TokenClaims.of(token);
        ObjectNode document = DocumentWriter.JSON
                .createObjectNode()
                .put("server", service.server().toString())
                .put("tenant", service.tenant())
                .put("accessToken", token);
        if (claims.has("exp")) {
            document.put(
                    "expiresAt",
                    Instant.ofEpochSecond(claims.path("exp").asLong()).toString());
        }
        print(document, List.of(token), () -> out().println(token));
        return ExitStatus.OK;
    }
}
