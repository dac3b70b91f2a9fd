package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Role;
import io.quartermaster.platform.db.SystemDatabase;
import io.restassured.response.Response;
import jakarta.inject.Inject;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Every write of the contract has a dry run, which reports its effects in one common form and changes nothing. */
@QuarkusTest
class DryRunIT {

    /** Simulations, and the calls of agents. */
    private static final Set<String> NO_WRITES = Set.of("simulate", "simulateCell", "syncNode", "openNodeSession");

    /** Writes that the fixtures do not allow, each with the code of the problem that the write itself would have. */
    private static final Map<String, String> REFUSED = Map.ofEntries(
            Map.entry("retireCluster", "in-use"),
            Map.entry("retirePool", "in-use"),
            Map.entry("deleteAllotment", "in-use"),
            Map.entry("retirePolicy", "work-is-waiting"),
            Map.entry("retireProfile", "work-is-waiting"),
            Map.entry("retireQueue", "work-is-waiting"),
            Map.entry("offboardTenant", "wrong-state"),
            Map.entry("resetStamp", "stamp-not-ahead"),
            Map.entry("cancelWorkloads", "invalid-input"));

    private static World world;

    @Inject
    SystemDatabase database;

    private Contract contract;
    private Stored stored;

    @BeforeAll
    static void tenant() {
        world = World.both().a();
    }

    @BeforeEach
    void read() {
        contract = Contract.served();
        stored = new Stored(database);
    }

    @Test
    void everyWriteCanBeTried() {
        assertThat(contract.calls())
                .filteredOn(call -> call.writes() && !call.hasDryRun())
                .extracting(Contract.Call::id)
                .containsExactlyInAnyOrderElementsOf(NO_WRITES);
    }

    @Test
    void aTriedWriteSaysInOneFormWhatItWouldDoAndDoesNothing() {
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : contract.calls()) {
            if (call.hasDryRun()) {
                Map<String, String> counts = stored.rowCounts();
                Map<String, String> content = stored.of(world.tenant());
                Response response = Calls.dryRunOfNow(call, world, token(call));
                String answer = call + ": " + response.statusCode() + " " + response.asString();
                if (response.statusCode() == 200) {
                    requireDryRun(softly, answer, response);
                    softly.assertThat(REFUSED.get(call.id())).as(answer).isNull();
                } else {
                    softly.assertThat(response.contentType()).as(answer).contains("application/problem+json");
                    softly.assertThat(response.<String>path("code")).as(answer).isEqualTo(REFUSED.get(call.id()));
                }
                softly.assertThat(response.header("Location")).as(answer).isNull();
                softly.assertThat(response.header("ETag")).as(answer).isNull();
                softly.assertThat(stored.rowCounts()).as("rows after " + call).isEqualTo(counts);
                softly.assertThat(stored.of(world.tenant()))
                        .as("the tenant after " + call)
                        .isEqualTo(content);
            }
        }
        softly.assertAll();
    }

    private static void requireDryRun(SoftAssertions softly, String answer, Response response) {
        Map<String, Object> body = response.path("");
        softly.assertThat(Set.of("status", "resource", "effects", "warnings"))
                .as(answer)
                .containsAll(body.keySet());
        softly.assertThat(List.of(200, 201, 202, 204)).as(answer).contains((Integer) body.get("status"));
        softly.assertThat(body.get("warnings")).as(answer).isInstanceOf(List.class);
        if (Integer.valueOf(201).equals(body.get("status"))
                || Integer.valueOf(202).equals(body.get("status"))) {
            softly.assertThat(response.<Object>path("resource.id")).as(answer).isNull();
            softly.assertThat(response.<List<Object>>path("resource.items.id"))
                    .as(answer)
                    .satisfiesAnyOf(ids -> assertThat(ids).isNull(), ids -> assertThat(ids)
                            .containsOnlyNulls());
        }
    }

    private static String token(Contract.Call call) {
        return Roles.token(call.ofOperator() ? Role.OPERATOR : Role.TENANT_ADMIN, world);
    }
}
