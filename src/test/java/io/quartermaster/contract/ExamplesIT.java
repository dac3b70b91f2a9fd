package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Role;
import io.restassured.response.Response;
import java.util.List;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.Test;

/** The service accepts the example of every body, as a dry run if the operation has one. */
@QuarkusTest
class ExamplesIT {

    @Test
    void serviceAcceptsTheExampleOfEveryBody() {
        World world = World.both().a();
        List<Contract.Call> calls = Contract.served().calls().stream()
                .filter(Contract.Call::takesBody)
                .filter(Contract.Call::hasDryRun)
                .toList();
        assertThat(calls).isNotEmpty();
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : calls) {
            Role role = call.ofTenant() ? Role.TENANT_ADMIN : Role.OPERATOR;
            Response response = Calls.dryRun(call, world, Roles.token(role, world));
            // 412: the version that every call of these tests names does not exist.
            softly.assertThat(response.statusCode())
                    .as("%s: %s", call, response.asString())
                    .isIn(200, 201, 202, 204, 412);
        }
        softly.assertAll();
    }
}
