package io.quartermaster.contract;

import static io.restassured.RestAssured.given;

import io.restassured.http.ContentType;
import io.restassured.response.Response;
import io.restassured.specification.RequestSpecification;
import org.jspecify.annotations.Nullable;

/** Sends operations of the contract. */
final class Calls {

    private Calls() {}

    /** With the body the fixtures have for it. */
    static Response send(Contract.Call call, World world, @Nullable String token) {
        return send(call, world, token, Bodies.text(call, world), false);
    }

    /** As {@code ?dryRun=true} where the operation has it: all checks, no change. */
    static Response dryRun(Contract.Call call, World world, @Nullable String token) {
        return send(call, world, token, Bodies.text(call, world), true);
    }

    /** As a dry run that is based on what is there now. */
    static Response dryRunOfNow(Contract.Call call, World world, String token) {
        Response now = given().auth().oauth2(token).get(world.fill(call.path()));
        return send(call, world, token, Bodies.text(call, world), true, now.header("ETag"));
    }

    static Response send(Contract.Call call, World world, @Nullable String token, String body, boolean dryRun) {
        return send(call, world, token, body, dryRun, null);
    }

    private static Response send(
            Contract.Call call,
            World world,
            @Nullable String token,
            String body,
            boolean dryRun,
            @Nullable String version) {
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
            request.header("If-Match", version == null ? "\"0\"" : version);
        }
        if (call.streams()) {
            // A stream that begins does not end soon; with this it is refused once the caller is let in.
            request.header("Last-Event-ID", "no-id");
        }
        return request.request(call.method(), world.fill(call.path()));
    }
}
