package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The formats of {@code qm get}, and its documents. */
class GetCommandTest extends CommandTest {

    private static final String VISION =
            "{\"id\":\"1\",\"name\":\"vision\",\"group\":\"/vision\",\"state\":\"active\",\"version\":3,\"profiles\":"
                    + "[\"one\",\"two\"],\"queues\":[\"vision-one\"],\"quotas\":[{\"pool\":\"h100\",\"reserved\":\"8\","
                    + "\"limit\":\"12\"},{\"pool\":\"a100\",\"reserved\":\"1\"}],\"overQuota\":true,\"warnings\":[]}";

    @Test
    void eachFormatOfAList() {
        givenList(TENANT + "/policies", VISION);

        assertThat(client.run("get", "policies").out()).isEqualTo("""
                POLICY  GROUP    STATE   RESERVED                      PROFILES
                vision  /vision  active  h100: 8, at most 12; a100: 1  one, two
                """);
        assertThat(client.run("get", "policies", "-o", "name").line()).isEqualTo("vision");
        assertThat(json(client.run("get", "policies", "-o", "json").out()))
                .isEqualTo(json("{\"items\":[" + VISION + "]}"));
    }

    @Test
    void oneObjectHasTheFieldsOfTheApi() {
        api.given("GET " + TENANT + "/policies/vision", 200, VISION);

        assertThat(json(client.run("get", "policy", "vision", "-o", "json").out()))
                .isEqualTo(json(VISION));
        assertThat(client.run("get", "policy", "vision", "-o", "yaml").out()).contains("group: /vision\n");
    }

    @Test
    void aDocumentHasTheFieldsThatCanBeStated() {
        api.given("GET " + TENANT + "/policies/vision", 200, VISION);

        assertThat(client.run("get", "policy", "vision", "--documents").out()).isEqualTo("""
                ---
                kind: policy
                name: vision
                spec:
                  group: /vision
                  quotas:
                    - pool: h100
                      reserved: '8'
                      limit: '12'
                    - pool: a100
                      reserved: '1'
                  profiles:
                    - one
                    - two
                  overQuota: true
                """);
    }

    @Test
    void groupsPoolsAndAccessRulesAreFoundInTheirLists() {
        givenList(TENANT + "/groups", "{\"path\":\"/vision\"}", "{\"path\":\"/speech\"}");
        givenList(TENANT + "/queues", "{\"name\":\"q\"}");
        api.given("GET " + TENANT + "/pools", 200, "{\"items\":[{\"name\":\"h100\",\"reserved\":\"8\"}]}");
        api.given(
                "GET " + TENANT + "/queues/q/access-rules",
                200,
                "{\"items\":[{\"id\":\"1\",\"subjectKind\":\"user\",\"subject\":\"jo\"}]}");

        assertThat(client.run("get", "group", "/speech", "-o", "name").line()).isEqualTo("/speech");
        assertThat(client.run("get", "pools").out()).contains("h100  8 ");
        assertThat(client.run("get", "access-rules").out()).endsWith("q      user    jo\n");
        assertThat(client.run("get", "access-rules", "q", "-o", "json").exitCode())
                .isZero();
        ClientRun.Result missing = client.run("get", "group", "/none");
        assertThat(missing.exitCode()).isEqualTo(4);
        assertThat(missing.err()).isEqualTo("qm: there is no /none among the groups of the tenant\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"get", "get things", "get all", "get all x --documents", "get pools --documents"})
    void aWrongKindIsRefused(String arguments) {
        api.given("GET " + TENANT + "/pools", 200, EMPTY);

        assertThat(client.run(arguments.split(" ")).exitCode()).isEqualTo(2);
        assertThat(api.requests()).isEmpty();
    }
}
