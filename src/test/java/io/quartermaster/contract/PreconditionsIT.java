package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Role;
import io.restassured.response.Response;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Every update of the contract is based on a version that its caller read, and the service enforces it. */
@QuarkusTest
class PreconditionsIT {

    private static final String IF_MATCH = "If-Match";
    private static final Optional<String> OUTDATED = Optional.of("\"987654321\"");

    /** States the whole order of a queue, which has no version: the last statement applies. */
    private static final Set<String> WITHOUT_VERSION = Set.of("orderQueue");

    /** Creates the allotment or updates it; the fixtures have one, so here it updates. */
    private static final Set<String> MAKES_OR_UPDATES = Set.of("putAllotment");

    private static World world;

    @BeforeAll
    static void tenant() {
        world = World.both().a();
    }

    private static List<Contract.Call> calls() {
        return Contract.served().calls();
    }

    @Test
    void everyUpdateStatesTheVersionThatItIsBasedOnAndTheContractSaysSo() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : calls()) {
            boolean updates = Set.of("PUT", "PATCH").contains(call.method()) && !WITHOUT_VERSION.contains(call.id());
            Optional<Contract.Parameter> ifMatch = call.header(IF_MATCH);
            softly.assertThat(call.statuses().contains("412"))
                    .as("%s has a 412 because it reads If-Match", call)
                    .isEqualTo(ifMatch.isPresent());
            softly.assertThat(call.statuses().contains("428"))
                    .as("%s has a 428 because it needs If-Match", call)
                    .isEqualTo(updates);
            softly.assertThat(ifMatch.filter(Contract.Parameter::required).isPresent())
                    .as("%s requires If-Match", call)
                    .isEqualTo(updates && !MAKES_OR_UPDATES.contains(call.id()));
        }
        softly.assertAll();
    }

    @Test
    void anUpdateWithoutAVersionIsRefusedAndSoIsOneOfAnotherVersion() {
        List<Contract.Call> updates = calls().stream()
                .filter(call -> call.header(IF_MATCH).isPresent())
                .toList();
        assertThat(updates).hasSizeGreaterThan(10);
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : updates) {
            meets(softly, call, OUTDATED, 412, "precondition-failed");
            meets(softly, call, Optional.of("W/\"1\""), 400, "invalid-input");
            if (call.statuses().contains("428")) {
                meets(softly, call, Optional.empty(), 428, "precondition-required");
            } else {
                softly.assertThat(send(call, Optional.empty()).statusCode())
                        .as("%s without a version", call)
                        .isNotIn(412, 428);
            }
            softly.assertThat(Calls.dryRunOfNow(call, world, token(call)).statusCode())
                    .as("%s of the version that is there", call)
                    .isNotIn(400, 412, 428);
        }
        softly.assertAll();
    }

    private static void meets(
            SoftAssertions softly, Contract.Call call, Optional<String> version, int status, String code) {
        Response response = send(call, version);
        String answer = call + " with " + version + ": " + response.asString();
        softly.assertThat(response.statusCode()).as(answer).isEqualTo(status);
        softly.assertThat(response.<String>path("code")).as(answer).isEqualTo(code);
    }

    private static Response send(Contract.Call call, Optional<String> version) {
        return Calls.dryRunOf(call, world, token(call), version);
    }

    private static String token(Contract.Call call) {
        return Roles.token(call.ofOperator() ? Role.OPERATOR : Role.TENANT_ADMIN, world);
    }
}
