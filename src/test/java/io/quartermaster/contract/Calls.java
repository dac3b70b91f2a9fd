package io.quartermaster.contract;

import static io.restassured.RestAssured.given;

import io.restassured.http.ContentType;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Sends operations of the contract. */
final class Calls {

    private Calls() {}

    /** Sends an operation with its body of the fixtures. */
    static Response send(Contract.Call call, World world, @Nullable String token) {
        return send(call, world, token, Bodies.text(call, world), false);
    }

    /** Sends with {@code ?dryRun=true} if the operation has it: all checks, no change. */
    static Response dryRun(Contract.Call call, World world, @Nullable String token) {
        return send(call, world, token, Bodies.text(call, world), true);
    }

    /** Sends a dry run that is based on the current version. */
    static Response dryRunOfNow(Contract.Call call, World world, String token) {
        Response now = given().auth().oauth2(token).get(world.fill(call.path()));
        return dryRunOf(call, world, token, Optional.of(Objects.requireNonNullElse(now.header("ETag"), "\"0\"")));
    }

    /** Sends a dry run that is based on the given version, or states none. */
    static Response dryRunOf(Contract.Call call, World world, String token, Optional<String> version) {
        return send(call, world, token, Bodies.text(call, world), true, version);
    }

    static Response send(Contract.Call call, World world, @Nullable String token, String body, boolean dryRun) {
        return send(call, world, token, body, dryRun, Optional.of("\"0\""));
    }

    private static Response send(
            Contract.Call call,
            World world,
            @Nullable String token,
            String body,
            boolean dryRun,
            Optional<String> version) {
        RequestSpecification request = given().contentType(ContentType.JSON);
        if (token != null) {
            request.auth().oauth2(token);
        }
        if (!body.isEmpty()) {
            request.body(body);
        }
        if (call.takes("dryRun") && dryRun) {
            request.queryParam("dryRun", true);
        }
        if (call.writes()) {
            version.ifPresent(etag -> request.header("If-Match", etag));
        }
        if (call.streams()) {
            // A stream does not end soon once it begins; this value makes the service refuse it after the gate.
            request.header("Last-Event-ID", "no-id");
        }
        return request.request(call.method(), world.fill(call.path()));
    }
}
