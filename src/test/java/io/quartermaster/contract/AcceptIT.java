package io.quartermaster.contract;

import static io.restassured.RestAssured.given;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Role;
import io.restassured.response.Response;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/** A route answers in the media type that the contract states, whatever the request accepts. */
@QuarkusTest
class AcceptIT {

    @Test
    void readsAnswerInTheirOwnMediaTypeWhateverTheRequestAccepts() {
        World world = World.both().a();
        List<Contract.Call> reads = Contract.committed().calls().stream()
                .filter(call -> call.method().equals("GET"))
                .toList();
        assertThat(reads).hasSizeGreaterThan(30);
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : reads) {
            String token = Roles.token(call.ofTenant() ? Role.TENANT_ADMIN : Role.OPERATOR, world);
            Response usual = Calls.send(call, world, token);
            for (String accepted : List.of("application/problem+json", "image/png", "text/html;q=0.8, image/*")) {
                var request = given().auth().oauth2(token).header("Accept", accepted);
                if (call.streams()) {
                    request.header("Last-Event-ID", "no-id");
                }
                Response response = request.get(world.fill(call.path()));
                softly.assertThat(response.statusCode())
                        .as("%s for %s: %s", call, accepted, response.asString())
                        .isEqualTo(usual.statusCode());
                softly.assertThat(response.contentType())
                        .as("%s for %s", call, accepted)
                        .isEqualTo(usual.contentType());
            }
        }
        softly.assertAll();
    }
}
