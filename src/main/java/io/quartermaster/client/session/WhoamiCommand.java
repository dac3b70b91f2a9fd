package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.commands.TokenClaims;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.ServiceReply;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextStyle;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** {@code qm whoami}: who the service takes the person for. */
@Command(
        name = "whoami",
        description =
                "Shows the server, the tenant, your name, your groups and your roles, and checks that the service "
                        + "accepts your login.",
        footer = "%nExample:%n  qm whoami -o json")
final class WhoamiCommand extends PersonCommand {

    WhoamiCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        ServiceConnection service = service();
        ServiceReply reply = service.send("GET", service.path(), Map.of(), null, Map.of());
        // The operator's people see no tenant of their own, and some roles may not read it.
        if (reply.status() != 403 && reply.status() != 404) {
            ServiceConnection.require(reply);
        }
        JsonNode claims = TokenClaims.of(service.token().current());
        ObjectNode document = document(service.server().toString(), service.tenant(), claims);
        print(document, List.of(TokenClaims.username(claims)), () -> {
            line("User", TokenClaims.username(claims));
            line("Tenant", service.tenant());
            line("Server", service.server().toString());
            line("Groups", String.join(", ", TokenClaims.groups(claims).orElse(List.of())));
            line("Roles", String.join(", ", TokenClaims.roles(claims)));
            if (claims.has("exp")) {
                line(
                        "Token",
                        "valid until "
                                + times().at(Instant.ofEpochSecond(
                                        claims.path("exp").asLong())));
            }
        });
        return ExitStatus.OK;
    }

    private void line(String what, String text) {
        out().println(String.format("%-8s %s", what, text.isEmpty() ? "-" : TextStyle.printable(text)));
    }

    static ObjectNode document(String server, String tenant, JsonNode claims) {
        ObjectNode document = DocumentWriter.JSON
                .createObjectNode()
                .put("server", server)
                .put("tenant", tenant)
                .put("username", TokenClaims.username(claims));
        ArrayNode groups = document.putArray("groups");
        TokenClaims.groups(claims).orElse(List.of()).forEach(groups::add);
        ArrayNode roles = document.putArray("roles");
        TokenClaims.roles(claims).forEach(roles::add);
        if (claims.has("exp")) {
            document.put(
                    "tokenExpiresAt",
                    Instant.ofEpochSecond(claims.path("exp").asLong()).toString());
        }
        return document;
    }
}
