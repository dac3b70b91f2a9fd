package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The plan of {@code qm apply}, its refusals, and the order of its changes. */
class ApplyCommandTest extends CommandTest {

    private static final String POLICIES = TENANT + "/policies";
    private static final String VISION = "{\"name\":\"vision\",\"group\":\"/vision\",\"version\":3,\"overQuota\":true,"
            + "\"grace\":\"PT1H30M\",\"profiles\":[\"one\"],\"quotas\":[{\"pool\":\"h100\",\"reserved\":\"8\","
            + "\"limit\":\"12\",\"rank\":0,\"fence\":false},{\"pool\":\"a100\",\"reserved\":\"1\"}]}";
    private static final String NO_EFFECTS = "{\"status\":201,\"warnings\":[],\"effects\":{\"changed\":[]}}";
    private static final String CUT = """
            kind: policy
            name: vision
            spec:
              group: /vision
              grace: 90m
              profiles: [one]
              quotas:
                - {pool: h100, reserved: 8, limit: 6}
                - {pool: a100, reserved: 1.0}
            """;

    @BeforeEach
    void aTenantWithOnePolicy() {
        givenList(TENANT + "/groups", "{\"path\":\"/vision\"}");
        givenList(TENANT + "/profiles", "{\"name\":\"one\",\"gpus\":\"1\",\"workers\":1,\"version\":0}");
        givenList(POLICIES, VISION);
        givenList(
                TENANT + "/queues",
                "{\"name\":\"vision-one\",\"policy\":\"vision\",\"profile\":\"one\",\"version\":1}");
    }

    private void givenCut(String effects) {
        api.given(
                "PATCH " + POLICIES + "/vision?dryRun=true",
                200,
                "{\"status\":200,\"warnings\":[\"careful\"],\"effects\":" + effects + "}");
        api.given("PATCH " + POLICIES + "/vision", 200, VISION);
    }

    private static String effects(long overQuota, long waiting) {
        return "{\"changed\":[{\"field\":\"quotas.h100.limit\",\"before\":\"12\",\"after\":\"6\"}],"
                + "\"queuesMade\":[],\"queuesRetired\":[],\"reserved\":[{\"pool\":\"h100\",\"group\":\"/\",\"of\":\"16\","
                + "\"before\":\"9\",\"after\":\"7\"}],\"becomingOverQuota\":" + overQuota + ",\"waitingTouched\":"
                + waiting
                + ",\"warnings\":[]}";
    }

    @Test
    void whatIsStatedAlreadyIsLeftAlone() throws Exception {
        String folder = file("rules/a.yaml", """
                kind: group
                name: /vision
                ---
                kind: profile
                name: one
                spec: {gpus: 1.0}
                """);
        file("rules/b/policy.yml", CUT.replace("limit: 6", "limit: 12"));
        file("rules/.hidden.yaml", "kind: nothing");
        file("rules/readme.md", "no document");

        ClientRun.Result result = client.run("apply", "-f", folder.replace("/a.yaml", ""));

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.line()).isEqualTo("Plan: 0 to create, 0 to change, 3 unchanged.");
        assertThat(api.requests())
                .allSatisfy(request -> assertThat(request.method()).isEqualTo("GET"));
    }

    @Test
    void aChangeIsShownWithItsEffectsAndSentWithTheVersionThatWasCompared() throws Exception {
        givenCut(effects(0, 0));

        ClientRun.Result result = client.run("apply", "-f", file("cut.yaml", CUT));

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).isEqualTo("""
                ~ policy vision
                    quotas.h100.limit: 12 -> 6
                    reserved by the tenant's groups in h100: 9 -> 7 of 16
                    warning: careful
                Plan: 0 to create, 1 to change, 0 unchanged.
                policy vision is changed.
                """);
        FakeApi.Request change = request("PATCH", POLICIES + "/vision");
        assertThat(json(change.body())).isEqualTo(json("{\"quotas\":{\"h100\":{\"limit\":\"6\"}}}"));
        assertThat(change.ifMatch()).isEqualTo("\"3\"");
        assertThat(change.idempotencyKey()).isNotEmpty();
    }

    @Test
    void aDryRunChangesNothing() throws Exception {
        givenCut(effects(0, 0));

        ClientRun.Result result = client.run("apply", "-f", file("cut.yaml", CUT), "--dry-run", "-o", "json");

        assertThat(result.exitCode()).isZero();
        assertThat(writes()).isEmpty();
        JsonNode item = json(result.out()).path("items").path(0);
        assertThat(item.path("action").asText()).isEqualTo("change");
        assertThat(item.path("outcome").asText()).isEqualTo("not-made");
        assertThat(item.path("changed").path(0).path("after").asText()).isEqualTo("6");
        assertThat(client.run("apply", "-f", file("cut.yaml", CUT), "--dry-run", "-o", "name")
                        .line())
                .isEqualTo("policy/vision");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "2 | 0 | 2 running jobs become over-quota, so other work may stop them",
                "1 | 0 | 1 running job becomes over-quota, so other work may stop it",
                "0 | 3 | 3 waiting jobs are cancelled"
            })
    void aCutThatStopsWorkIsPreviewedAndRefused(long overQuota, long waiting, String why) throws Exception {
        givenCut(effects(overQuota, waiting));
        String file = file("cut.yaml", CUT);

        ClientRun.Result refused = client.run("apply", "-f", file);
        ClientRun.Result previewed = client.run("apply", "-f", file, "--dry-run");

        assertThat(List.of(refused.exitCode(), previewed.exitCode())).containsOnly(5);
        assertThat(refused.out()).contains("    ! " + why + "\n");
        assertThat(previewed.out()).isEqualTo(refused.out());
        assertThat(refused.err())
                .isEqualTo("qm: the plan is refused; nothing was changed\n  policy vision: " + why
                        + ". Give --stop-work if you mean it\n");
        assertThat(writes()).isEmpty();

        assertThat(client.run("apply", "-f", file, "--stop-work").exitCode()).isZero();
        assertThat(writes()).containsExactly("PATCH " + POLICIES + "/vision");
    }

    @Test
    void aDateFromWhichWorkIsStoppedNeedsTheOption() throws Exception {
        givenCut("{\"changed\":[{\"field\":\"quotas.h100.drainBy\",\"after\":\"2026-12-01T18:00:00Z\"}]}");

        String drained = CUT.replace("limit: 6", "limit: 6, drainBy: 2026-12-01T18:00:00Z");
        ClientRun.Result refused = client.run("apply", "-f", file("cut.yaml", drained));

        assertThat(refused.exitCode()).isEqualTo(5);
        assertThat(refused.err())
                .contains("policy vision: from 2026-12-01T18:00:00Z on the service stops work above the limit");
    }

    @Test
    void workThatWaitsInARetiredQueueIsCancelledOnDemandOnly() throws Exception {
        api.given(
                "PATCH " + POLICIES + "/vision?dryRun=true",
                409,
                "{\"code\":\"work-is-waiting\",\"detail\":\"2 workloads wait\"}");
        api.given(
                "PATCH " + POLICIES + "/vision?dryRun=true&onWaiting=cancel",
                200,
                "{\"status\":200,\"warnings\":[],\"effects\":{\"queuesRetired\":[\"vision-one\"],\"waitingTouched\":2}}");
        api.given("PATCH " + POLICIES + "/vision?onWaiting=cancel", 200, VISION);
        String file = file("cut.yaml", CUT);

        assertThat(client.run("apply", "-f", file).out())
                .contains("    retires queue vision-one\n    ! 2 waiting jobs are cancelled\n");
        assertThat(writes()).isEmpty();
        assertThat(client.run("apply", "-f", file, "--stop-work").exitCode()).isZero();
        assertThat(writes()).containsExactly("PATCH " + POLICIES + "/vision?onWaiting=cancel");
    }

    @Test
    void aRefusalOfTheServiceKeepsTheWholePlanFromBeginning() throws Exception {
        api.given("POST " + TENANT + "/profiles?dryRun=true", 201, NO_EFFECTS);
        api.given(
                "PATCH " + POLICIES + "/vision?dryRun=true",
                422,
                "{\"code\":\"invalid-input\",\"detail\":\"no such pool\",\"errors\":[{\"field\":\"f\",\"message\":\"m\"}]}");

        ClientRun.Result result = client.run(
                "apply", "-f", file("a.yaml", "kind: profile\nname: two\nspec: {gpus: 2}"), "-f", file("b.yaml", CUT));

        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(result.out()).contains("+ profile two\n", "    ! refused: no such pool\n");
        assertThat(result.err())
                .isEqualTo("qm: the plan is refused; nothing was changed\n  policy vision: no such pool\n    f: m\n");
        assertThat(writes()).isEmpty();
    }

    @Test
    void objectsAreMadeInTheOrderInWhichTheyRestOnEachOther() throws Exception {
        api.given("POST " + TENANT + "/groups?dryRun=true", 201, NO_EFFECTS)
                .given("POST " + TENANT + "/groups", 201, "{\"path\":\"/speech\"}")
                .given("POST " + POLICIES + "?dryRun=true", 201, NO_EFFECTS)
                .given("POST " + POLICIES, 201, "{}")
                .given("GET " + TENANT + "/queues/speech-one/access-rules", 404, "{}")
                .given("POST " + TENANT + "/queues/speech-one/access-rules?dryRun=true", 201, NO_EFFECTS)
                .given("POST " + TENANT + "/queues/speech-one/access-rules", 201, "{}");

        ClientRun.Result result = client.run("apply", "-f", file("all.yaml", """
                {kind: access-rule, name: speech-one, spec: {subjectKind: group, subject: /vision}}
                ---
                {kind: policy, name: speech, spec: {group: /speech, profiles: [one]}}
                ---
                {kind: group, name: /speech}
                """));

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).startsWith("""
                + group /speech
                + policy speech
                    checked when the changes before it are made
                + access-rule speech-one for group /vision
                    checked when the changes before it are made
                """).endsWith("access-rule speech-one for group /vision is created.\n");
        assertThat(writes())
                .containsExactly(
                        "POST " + TENANT + "/groups",
                        "POST " + POLICIES,
                        "POST " + TENANT + "/queues/speech-one/access-rules");
        assertThat(json(request("POST", TENANT + "/groups").body())).isEqualTo(json("{\"path\":\"/speech\"}"));
    }

    @Test
    void aReservationForWhichAnotherChangeMakesRoomIsTriedAfterIt() throws Exception {
        api.given(
                "POST " + POLICIES + "?dryRun=true",
                422,
                "{\"code\":\"reservations-do-not-fit\",\"detail\":\"no room\"}");
        api.given(
                "POST " + POLICIES + "?dryRun=true",
                422,
                "{\"code\":\"reservations-do-not-fit\",\"detail\":\"no room\"}");
        api.given("POST " + POLICIES + "?dryRun=true", 201, NO_EFFECTS);
        api.given("POST " + POLICIES, 201, "{}");
        givenCut(effects(0, 0));

        ClientRun.Result result = client.run("apply", "-f", file("all.yaml", """
                {kind: policy, name: early, spec: {group: /vision, quotas: [{pool: h100, reserved: 6}]}}
                ---
                """ + CUT));

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(writes()).containsExactly("PATCH " + POLICIES + "/vision", "POST " + POLICIES);
    }

    @Test
    void aQueueWithANameOfItsOwnBringsItsProfileIntoThePolicy() throws Exception {
        api.given("POST " + POLICIES + "?dryRun=true", 201, NO_EFFECTS)
                .given("POST " + POLICIES, 201, "{}")
                .given("POST " + TENANT + "/queues?dryRun=true", 201, NO_EFFECTS)
                .given("POST " + TENANT + "/queues", 201, "{}");
        String policies = "{kind: policy, name: %s, spec: {group: /a, profiles: [one, two]}}\n---\n"
                + "{kind: queue, name: night, spec: {policy: %s, profile: two}}\n";

        ClientRun.Result made = client.run("apply", "-f", file("new.yaml", policies.formatted("speech", "speech")));
        ClientRun.Result added = client.run(
                "apply",
                "-f",
                file("old.yaml", policies.formatted("vision", "vision").replace("/a", "/vision")));

        assertThat(made.exitCode()).as(made.err()).isZero();
        assertThat(json(request("POST", POLICIES).body()).path("profiles")).isEqualTo(json("[\"one\"]"));
        assertThat(added.exitCode()).as(added.err()).isZero();
        assertThat(added.out()).contains("Plan: 1 to create, 0 to change, 1 unchanged.");
    }

    @Test
    void effectsThatAppearOnTheWayAreRefusedToo() throws Exception {
        String speech = VISION.replace("vision", "speech");
        givenList(POLICIES, VISION, speech);
        givenCut(effects(0, 0));
        for (int overQuota : new int[] {0, 1}) {
            api.given(
                    "PATCH " + POLICIES + "/speech?dryRun=true",
                    200,
                    "{\"status\":200,\"warnings\":[],\"effects\":" + effects(overQuota, 0) + "}");
        }
        String file = file("both.yaml", CUT + "---\n" + CUT.replace("vision", "speech"));
        assertThat(client.run("apply", "-f", file("one.yaml", CUT), "--dry-run").exitCode())
                .isZero();

        ClientRun.Result result = client.run("apply", "-f", file);

        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(result.err())
                .startsWith("qm: policy speech: 1 running job becomes over-quota")
                .endsWith("1 of the plan's changes is made. Not made: policy speech\n");
        assertThat(writes()).containsExactly("PATCH " + POLICIES + "/vision");
    }

    @Test
    void aFailureOnTheWayNamesWhatIsMadeAndWhatIsNot() throws Exception {
        api.given("POST " + TENANT + "/profiles?dryRun=true", 201, NO_EFFECTS);
        api.given("POST " + TENANT + "/profiles", 201, "{}");
        givenCut(effects(0, 0));
        api.given("PATCH " + TENANT + "/queues/vision-one?dryRun=true", 200, "{\"status\":200,\"warnings\":[]}");
        api.given("PATCH " + POLICIES + "/vision", 412, "{\"code\":\"changed-meanwhile\",\"detail\":\"stale\"}");

        assertThat(client.run("apply", "-f", file("first.yaml", CUT)).exitCode())
                .isZero();

        ClientRun.Result result = client.run("apply", "-f", file("all.yaml", """
                {kind: profile, name: two, spec: {gpus: 2}}
                ---
                {kind: queue, name: vision-one, spec: {state: held}}
                ---
                """ + CUT));

        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(result.out()).contains("profile two is created.\n").doesNotContain("vision is changed");
        assertThat(result.err())
                .isEqualTo("qm: policy vision: it was changed after the plan was made; run the command again\n"
                        + "  1 of the plan's changes is made. Not made: policy vision, queue vision-one\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{kind: pool, name: a}                          | \"pool\" is no kind of this command; accepted: group,",
                "{kind: group}                                  | a document needs a name",
                "{kind: group, name: /a, spec: {path: /a}}      | group /a has a name, its path, and no spec",
                "{kind: policy, name: a, specs: {}}             | a document has the fields kind, name and spec, not specs",
                "{kind: policy, name: a, spec: {name: b}}       | belongs beside its spec",
                "{kind: policy, name: a, spec: [b]}             | the spec of policy a is not a mapping",
                "{kind: policy, name: a, spec: {grace: 2x}}     | spec.grace: \"2x\" is not a duration",
                "{items: [1]}                                   | an item is not a document",
                "{kind: queue, name: vision-one, spec: {profile: two}} | has the profile one, which cannot change",
                "{kind: policy, name: vision, spec: {quotas: [{reserved: 1}]}} | each quota names a pool",
            })
    void aWrongDocumentIsRefusedWithItsFile(String document, String message) throws Exception {
        ClientRun.Result result = client.run("apply", "-f", file("wrong.yaml", document));

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).contains("wrong.yaml", message);
        assertThat(writes()).isEmpty();
    }

    @Test
    void anObjectIsStatedOnce() throws Exception {
        String file = file("twice.yaml", "{kind: group, name: /a}\n---\n{kind: group, name: /a}\n");

        assertThat(client.run("apply", "-f", file).err()).contains("group /a is stated twice");
        assertThat(client.run("apply").exitCode()).isEqualTo(2);
        assertThat(client.run("apply", "-f", file("empty.yaml", "")).err()).contains("has no document");
    }

    @Test
    void theDocumentsOfWhatExistsChangeNothing() throws Exception {
        api.given(
                "GET " + TENANT + "/queues/vision-one/access-rules",
                200,
                "{\"items\":[{\"id\":\"1\",\"subjectKind\":\"group\",\"subject\":\"/vision\"}]}");

        ClientRun.Result documents = client.run("get", "all", "--documents");
        client.withInput(documents.out());
        ClientRun.Result applied = client.run("apply", "-f", "-");
        client.withInput(client.run("get", "all", "--documents", "-o", "json").out());

        assertThat(documents.out()).contains("kind: access-rule\nname: vision-one\nspec:\n  subjectKind: group\n");
        assertThat(applied.line()).isEqualTo("Plan: 0 to create, 0 to change, 5 unchanged.");
        assertThat(client.run("apply", "-f", "-").line()).isEqualTo(applied.line());
    }

    @Test
    void theServiceDecidesWhetherAValueIsAnother() throws Exception {
        api.given(
                "PATCH " + POLICIES + "/vision?dryRun=true",
                200,
                "{\"status\":200,\"warnings\":[],\"effects\":{\"changed\":[]}}",
                Map.of());

        ClientRun.Result result =
                client.run("apply", "-f", file("null.yaml", "{kind: policy, name: vision, spec: {overQuota: null}}"));

        assertThat(result.line()).isEqualTo("Plan: 0 to create, 0 to change, 1 unchanged.");
        assertThat(writes()).isEmpty();
    }
}
