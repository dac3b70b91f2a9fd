package io.quartermaster.governance.rules;

import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.personToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.nullValue;
import static org.hamcrest.Matchers.startsWith;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.governance.SharedPool;
import io.restassured.response.ValidatableResponse;
import io.restassured.specification.RequestSpecification;
import io.vertx.mutiny.sqlclient.Tuple;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Priority and non-preemptible work need a right that a policy grants. */
@QuarkusTest
class SubmissionRightsIT extends SharedPool {

    private static final String RND = TENANT + "/policies/rnd";
    private static final String CODE = "beyond-submission-rights";

    private static RequestSpecification member() {
        return request(memberToken(A, "rnd-member"));
    }

    private static Map<String, Object> work(Object... more) {
        Map<String, Object> body = new HashMap<>(Map.of(
                "queue", "rnd-1xgpu", "name", "rights", "type", "training", "hold", true, "command", List.of("true")));
        for (int i = 0; i < more.length; i += 2) {
            body.put((String) more[i], more[i + 1]);
        }
        return body;
    }

    private static ValidatableResponse submit(RequestSpecification caller, Map<String, Object> body) {
        return caller.body(body).post(TENANT + "/workloads").then();
    }

    private static ValidatableResponse patch(int version, String body) {
        return admin().header("If-Match", "\"" + version + "\"")
                .body(body)
                .patch(RND)
                .then();
    }

    @Test
    void aMemberTakesNoHigherPriorityThanThePolicyGives() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        admin().get(RND)
                .then()
                .body("maxPriority", nullValue())
                .body("nonPreemptible", equalTo(false))
                .body("warnings", hasSize(0));

        submit(member(), work("priority", 1000))
                .statusCode(422)
                .body("code", equalTo(CODE))
                .body("errors.field", contains("priority"))
                .body("errors[0].message", startsWith("priority 1000 is above 50"))
                .body("errors[0].accepted", startsWith("0 to 50"));
        submit(member(), work("priority", 50)).statusCode(201).body("priority", equalTo(50));
        admin().body(Map.of("subjectKind", "user", "subject", "admin"))
                .post(TENANT + "/queues/rnd-1xgpu/access-rules")
                .then()
                .statusCode(201);
        submit(admin(), work("priority", 51)).statusCode(422).body("code", equalTo(CODE));
        submit(member().queryParam("dryRun", true), work("priority", 51))
                .statusCode(422)
                .body("code", equalTo(CODE));
        member().body(Map.of(
                        "items",
                        List.of(work(), work("priority", 51), work("preemptible", false), work("type", "workspace"))))
                .post(TENANT + "/workloads/batches")
                .then()
                .statusCode(422)
                .body("code", equalTo(CODE))
                .body("errors.field", contains("items[1].priority", "items[2].preemptible", "items[3].preemptible"));

        patch(0, "{\"maxPriority\": 200, \"nonPreemptible\": true}")
                .statusCode(200)
                .body("effects.changed.field", hasItems("maxPriority", "nonPreemptible"))
                .body("warnings", hasSize(0));
        submit(member(), work("priority", 200, "preemptible", false))
                .statusCode(201)
                .body("priority", equalTo(200))
                .body("preemptible", equalTo(false));
        submit(member(), work("priority", 201)).statusCode(422);
        submit(member(), work("type", "workspace")).statusCode(201).body("preemptible", equalTo(false));
    }

    @Test
    void rightsThatAreTakenAwayAreGoneFromTheAnswerOn() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        for (int round = 0; round < 3; round++) {
            patch(2 * round, "{\"maxPriority\": 200, \"nonPreemptible\": true}").statusCode(200);
            submit(member(), work("priority", 150, "preemptible", false)).statusCode(201);
            patch(2 * round + 1, "{\"maxPriority\": null, \"nonPreemptible\": null}")
                    .statusCode(200)
                    .body("maxPriority", nullValue())
                    .body("nonPreemptible", equalTo(false));
            submit(member(), work("priority", 150)).statusCode(422).body("code", equalTo(CODE));
            submit(member(), work("preemptible", false)).statusCode(422).body("code", equalTo(CODE));
            submit(member(), work()).statusCode(201);
        }
    }

    @Test
    void aLowerHighestPriorityIsTheDefaultToo() {
        Map<String, Object> policy = new HashMap<>(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        policy.put("maxPriority", 30);
        made(policy);

        submit(member(), work()).statusCode(201).body("priority", equalTo(30));
        submit(member(), work("priority", 31)).statusCode(422);

        policy.put("maxPriority", 1001);
        admin().header("If-Match", "\"0\"")
                .body(policy)
                .put(RND)
                .then()
                .statusCode(400)
                .body("errors.field", contains("maxPriority"))
                .body("errors[0].accepted", equalTo("0 to 1000"));
        policy.remove("maxPriority");
        admin().header("If-Match", "\"0\"")
                .body(policy)
                .put(RND)
                .then()
                .statusCode(200)
                .body("maxPriority", nullValue())
                .body("effects.changed.field", hasItem("maxPriority"));
    }

    @Test
    void aPolicyThatAllowsEverythingWarnsOfIt() {
        Map<String, Object> policy = new HashMap<>(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        policy.put("maxPriority", 1000);
        policy.put("nonPreemptible", true);
        admin().queryParam("dryRun", true)
                .body(policy)
                .post(TENANT + "/policies")
                .then()
                .statusCode(200)
                .body("warnings", hasItem(containsString("highest priority")));
        made(policy);

        admin().get(RND).then().body("warnings", contains(containsString("highest priority")));
        admin().get(TENANT + "/policies")
                .then()
                .body("items[0].warnings", contains(containsString("highest priority")));
        patch(0, "{\"nonPreemptible\": false}").statusCode(200).body("warnings", hasSize(0));
    }

    @Test
    void workIsMovedUnderAnotherPolicyOnlyWithinItsRights() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        made(policy("devops", "/devops", "1", "9", "3xgpu"));
        admin().body(Map.of("subjectKind", "user", "subject", "rnd-member"))
                .post(TENANT + "/queues/devops-3xgpu/access-rules")
                .then()
                .statusCode(201);
        waiting("rnd-1xgpu", "urgent");
        execute("update workload set priority = 60 where tenant_id = $1 and name = 'urgent'", Tuple.of(A));

        move().statusCode(422)
                .body("code", equalTo(CODE))
                .body("errors.field", contains("moveTo"))
                .body("detail", containsString("policy devops"));
        admin().header("If-Match", "\"0\"")
                .body("{\"maxPriority\": 60}")
                .patch(TENANT + "/policies/devops")
                .then()
                .statusCode(200);
        move().statusCode(200).body("waitingTouched", equalTo(1));
    }

    @Test
    void aGroupAdminCarriesRightsToNoOtherGroup() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        Map<String, Object> granted = new HashMap<>(policy("nlp", "/rnd/nlp", "1", "9", "1xgpu"));
        granted.put("maxPriority", 1000);
        granted.put("nonPreemptible", true);
        made(granted);
        String groupAdmin = personToken(A, "rnd-admin", List.of("group-admin"), List.of("/rnd"));

        changed(groupAdmin, 0, "{\"group\": \"/rnd/vision\"}")
                .statusCode(400)
                .body("errors.field", contains("maxPriority", "nonPreemptible"));
        granted.put("group", "/rnd/vision");
        request(groupAdmin)
                .header("If-Match", "\"0\"")
                .body(granted)
                .put(TENANT + "/policies/nlp")
                .then()
                .statusCode(400)
                .body("errors.field", contains("maxPriority", "nonPreemptible"));

        changed(groupAdmin, 0, "{\"maxRunning\": 3}").statusCode(200).body("maxPriority", equalTo(1000));
        changed(groupAdmin, 1, "{\"group\": \"/rnd/vision\", \"maxPriority\": 50, \"nonPreemptible\": false}")
                .statusCode(200)
                .body("group", equalTo("/rnd/vision"));
    }

    @Test
    void aGroupAdminMovesNoWorkIntoQueuesOfAnotherGroup() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        made(policy("devops", "/devops", "1", "9", "1xgpu"));
        waiting("rnd-1xgpu", "carried");
        String groupAdmin = personToken(A, "rnd-admin", List.of("group-admin"), List.of("/rnd"));

        for (boolean dryRun : new boolean[] {true, false}) {
            request(groupAdmin)
                    .queryParam("dryRun", dryRun)
                    .queryParam("onWaiting", "move")
                    .queryParam("moveTo", "devops-1xgpu")
                    .delete(TENANT + "/queues/rnd-1xgpu")
                    .then()
                    .statusCode(403)
                    .body("detail", containsString("queue devops-1xgpu of /devops"));
        }
        assertThat(text(
                        "select q.name from workload w join queue q on q.id = w.queue_id where w.name = 'carried' "
                                + "and w.tenant_id = $1",
                        A))
                .isEqualTo("rnd-1xgpu");
    }

    @Test
    void aGroupAdminHearsOfItsRightsBeforeAnythingOfOtherGroups() {
        made(policy("rnd", "/rnd", "5", "9", "1xgpu"));
        made(policy("devops", "/devops", "1", "9", "1xgpu"));
        String groupAdmin = personToken(A, "rnd-admin", List.of("group-admin"), List.of("/rnd"));

        request(groupAdmin)
                .body(Map.of("policy", "devops", "profile", "1xgpu", "name", "mine"))
                .post(TENANT + "/queues")
                .then()
                .statusCode(403);
        request(groupAdmin)
                .body(Map.of("policy", "devops", "profile", "nothing", "maxWaiting", -1))
                .post(TENANT + "/queues")
                .then()
                .statusCode(403);
        request(groupAdmin)
                .body(Map.of("name", "theirs", "group", "/devops/new", "maxRunning", -1))
                .post(TENANT + "/policies")
                .then()
                .statusCode(403);
    }

    private static ValidatableResponse changed(String token, int version, String body) {
        return request(token)
                .header("If-Match", "\"" + version + "\"")
                .body(body)
                .patch(TENANT + "/policies/nlp")
                .then();
    }

    private static ValidatableResponse move() {
        return admin().queryParam("onWaiting", "move")
                .queryParam("moveTo", "devops-3xgpu")
                .delete(TENANT + "/queues/rnd-1xgpu")
                .then();
    }
}
