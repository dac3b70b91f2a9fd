package io.quartermaster.tenancy;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.personToken;
import static io.quartermaster.tenancy.TestTenants.provision;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;
import static org.hamcrest.Matchers.containsInAnyOrder;
import static org.hamcrest.Matchers.containsString;
import static org.hamcrest.Matchers.empty;
import static org.hamcrest.Matchers.equalTo;
import static org.hamcrest.Matchers.everyItem;
import static org.hamcrest.Matchers.hasItem;
import static org.hamcrest.Matchers.hasItems;
import static org.hamcrest.Matchers.hasSize;
import static org.hamcrest.Matchers.not;
import static org.hamcrest.Matchers.nullValue;
import static org.hamcrest.Matchers.startsWith;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.Identity;
import io.restassured.response.Response;
import io.restassured.response.ValidatableResponse;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** People through the API, in a real realm. */
@QuarkusTest
class PeopleIT {

    private static final String TENANT = "people-a";
    private static final String OTHER = "people-b";
    private static final String PEOPLE = "/v1/tenants/" + TENANT + "/people";

    @BeforeAll
    static void twoTenants() {
        provision(TENANT);
        provision(OTHER);
    }

    private static Map<String, Object> person(String username) {
        return new HashMap<>(Map.of("username", username, "email", username + "@example.com"));
    }

    private static String idOf(String username) {
        return request(adminToken(TENANT))
                .queryParam("search", username)
                .get(PEOPLE)
                .then()
                .statusCode(200)
                .extract()
                .path("items.find { it.username == '" + username + "' }.id");
    }

    private static ValidatableResponse invite(String token, Map<String, Object> person) {
        return request(token).body(person).post(PEOPLE).then();
    }

    private static ValidatableResponse patch(String token, String id, Map<String, Object> patch) {
        String etag = request(adminToken(TENANT)).get(PEOPLE + "/" + id).header("ETag");
        return request(token)
                .header("If-Match", etag)
                .body(patch)
                .patch(PEOPLE + "/" + id)
                .then();
    }

    @Test
    void peopleAreListedPageByPageWithoutServiceAccounts() {
        Response first = request(adminToken(TENANT)).queryParam("pageSize", 2).get(PEOPLE);
        first.then().statusCode(200).body("items", hasSize(2));
        Response rest = request(adminToken(TENANT))
                .queryParam("pageSize", 2)
                .queryParam("pageToken", first.<String>path("nextPageToken"))
                .get(PEOPLE);
        rest.then().statusCode(200).body("items", hasSize(2));
        assertThat(rest.<List<String>>path("items.id"))
                .doesNotContainAnyElementsOf(first.<List<String>>path("items.id"));
        request(adminToken(TENANT))
                .queryParam("role", "member")
                .get(PEOPLE)
                .then()
                .statusCode(200)
                .body("items.username", hasItem("rnd-member"))
                .body("items.username", everyItem(not(startsWith("service-account"))));
        request(adminToken(TENANT))
                .queryParam("group", "/devops")
                .get(PEOPLE)
                .then()
                .statusCode(200)
                .body("items.username", hasItem("devops-member"))
                .body("items.username", not(hasItem("rnd-member")));
        request(adminToken(TENANT))
                .queryParam("group", "/none")
                .get(PEOPLE)
                .then()
                .statusCode(200)
                .body("items", empty());
        request(adminToken(TENANT))
                .queryParam("role", "operator")
                .get(PEOPLE)
                .then()
                .statusCode(400)
                .body("errors[0].accepted", containsString("tenant-admin"));
    }

    @Test
    void anInvitedPersonGetsAPasswordForOneLoginThatIsShownOnce() throws Exception {
        Map<String, Object> jo = person("jo-invited");
        jo.put("roles", List.of("member", "viewer"));
        jo.put("groups", List.of("/rnd"));
        request(adminToken(TENANT))
                .queryParam("dryRun", true)
                .body(jo)
                .post(PEOPLE)
                .then()
                .statusCode(200)
                .body("resource.temporaryPassword", nullValue());
        assertThat(idOf("jo-invited")).isNull();

        Response invited = request(adminToken(TENANT)).body(jo).post(PEOPLE);
        invited.then()
                .statusCode(201)
                .header("Cache-Control", containsString("no-store"))
                .body("invitedBy", equalTo("one-time-password"));
        String id = invited.path("id");
        String password = invited.path("temporaryPassword");
        assertThat(invited.header("Location")).isEqualTo(PEOPLE + "/" + id);
        request(adminToken(TENANT))
                .get(PEOPLE + "/" + id)
                .then()
                .statusCode(200)
                .body("person.username", equalTo("jo-invited"))
                .body("person.invited", equalTo(true))
                .body("person.enabled", equalTo(true))
                .body("roles", contains("member", "viewer"))
                .body("groups", contains("/rnd"));
        assertThat(invite(adminToken(TENANT), jo)
                        .statusCode(201)
                        .body("id", equalTo(id))
                        .extract()
                        .<String>path("temporaryPassword"))
                .isNotEqualTo(password);
        assertThat(request(adminToken(TENANT))
                        .queryParam("pageSize", 200)
                        .get("/v1/tenants/" + TENANT + "/audit-entries")
                        .then()
                        .statusCode(200)
                        .body(
                                "items.findAll { it.resource == 'people/jo-invited' }.action",
                                contains("people:invite", "people:invite"))
                        .extract()
                        .asString())
                .doesNotContain(password);
    }

    @Test
    void whatARequestSaysOfAPersonIsCheckedBeforeAnythingChanges() {
        invite(adminToken(TENANT), person("Not Valid")).statusCode(400).body("errors.field", hasItems("username"));
        Map<String, Object> unknownRole = person("jo-checked");
        unknownRole.put("roles", List.of("member", "operator"));
        invite(adminToken(TENANT), unknownRole)
                .statusCode(400)
                .body("errors.field", contains("roles[1]"))
                .body("errors[0].accepted", containsString("group-admin"));
        unknownRole.put("roles", List.of("tenant-automation"));
        invite(adminToken(TENANT), unknownRole).statusCode(400).body("errors.field", contains("roles[0]"));
        Map<String, Object> noGroup = person("jo-checked");
        noGroup.put("groups", List.of("/rnd", "/no-such-group"));
        invite(adminToken(TENANT), noGroup).statusCode(422).body("code", equalTo("no-such-group"));
        invite(adminToken(TENANT), person("rnd-member")).statusCode(409).body("code", equalTo("user-exists"));
        assertThat(idOf("jo-checked")).isNull();
    }

    @Test
    void rolesGroupsAndStandingOfAPersonAreSetAndTakeEffect() {
        String token = personToken(TENANT, "changed-person", List.of("viewer"), List.of("/rnd"));
        String id = idOf("changed-person");
        Response before = request(adminToken(TENANT)).get(PEOPLE + "/" + id);
        before.then().body("roles", contains("viewer")).body("groups", contains("/rnd"));

        patch(adminToken(TENANT), id, Map.of("roles", List.of("member", "group-admin"), "groups", List.of("/devops")))
                .statusCode(200)
                .body("roles", contains("group-admin", "member"))
                .body("groups", contains("/devops"));
        request(adminToken(TENANT))
                .header("If-Match", before.header("ETag"))
                .body(Map.of("roles", List.of("viewer")))
                .patch(PEOPLE + "/" + id)
                .then()
                .statusCode(412);
        // What the realm has besides the roles of the service stays.
        assertThat(Identity.admin()
                        .get("/admin/realms/" + TENANT + "/users/" + id + "/role-mappings/realm")
                        .<List<String>>path("name"))
                .contains("default-roles-" + TENANT);
        assertThat(request(token).get("/v1/tenants/" + TENANT + "/queues").statusCode())
                .isEqualTo(200);

        patch(adminToken(TENANT), id, Map.of("enabled", false)).statusCode(200).body("person.enabled", equalTo(false));
        org.awaitility.Awaitility.await()
                .atMost(java.time.Duration.ofSeconds(90))
                .until(() ->
                        request(token).get("/v1/tenants/" + TENANT + "/queues").statusCode() == 401);
        patch(adminToken(TENANT), id, Map.of("enabled", true)).statusCode(200).body("person.enabled", equalTo(true));
        patch(adminToken(TENANT), id, Map.of("groups", List.of("/none"))).statusCode(422);
        HashMap<String, Object> nothing = new HashMap<>();
        nothing.put("roles", null);
        patch(adminToken(TENANT), id, nothing).statusCode(400).body("errors.field", contains("roles"));
        request(adminToken(TENANT))
                .queryParam("pageSize", 200)
                .get("/v1/tenants/" + TENANT + "/audit-entries")
                .then()
                .body(
                        "items.findAll { it.resource == 'people/changed-person' }.after.enabled",
                        contains(true, false, true));
    }

    @Test
    void theLastAdminStaysAndNobodyDisablesThemselves() {
        String admin = idOf("admin");
        patch(adminToken(TENANT), admin, Map.of("roles", List.of("member")))
                .statusCode(409)
                .body("code", equalTo("last-admin"));
        patch(adminToken(TENANT), admin, Map.of("enabled", false))
                .statusCode(409)
                .body("code", equalTo("own-account"));

        Map<String, Object> invited = person("invited-admin");
        invited.put("roles", List.of("tenant-admin"));
        invite(adminToken(TENANT), invited).statusCode(201);
        patch(adminToken(TENANT), admin, Map.of("roles", List.of("member")))
                .statusCode(409)
                .body("code", equalTo("last-admin"));

        String second = personToken(TENANT, "second-admin", List.of("tenant-admin"), List.of());
        personToken(TENANT, "third-admin", List.of("tenant-admin"), List.of());
        patch(second, idOf2(second, "third-admin"), Map.of("enabled", false)).statusCode(200);
        // Not disabled: the other tests use tokens of this admin.
        List<String> roles = request(second).get(PEOPLE + "/" + admin).path("roles");
        patch(second, admin, Map.of("roles", List.of("member"))).statusCode(200);
        patch(second, idOf2(second, "second-admin"), Map.of("roles", List.of("member")), second)
                .statusCode(409)
                .body("code", equalTo("last-admin"));
        patch(second, admin, Map.of("roles", roles), second).statusCode(200);
        patch(adminToken(TENANT), idOf("second-admin"), Map.of("roles", List.of("member")))
                .statusCode(200);
    }

    private static String idOf2(String token, String username) {
        return request(token)
                .queryParam("search", username)
                .get(PEOPLE)
                .then()
                .statusCode(200)
                .extract()
                .path("items.find { it.username == '" + username + "' }.id");
    }

    private static ValidatableResponse patch(String token, String id, Map<String, Object> patch, String reader) {
        return request(token)
                .header("If-Match", request(reader).get(PEOPLE + "/" + id).header("ETag"))
                .body(patch)
                .patch(PEOPLE + "/" + id)
                .then();
    }

    @Test
    void anOldTokenGivesNoRightsBack() {
        String demoted = personToken(TENANT, "demoted-admin", List.of("tenant-admin"), List.of());
        String id = idOf("demoted-admin");
        patch(adminToken(TENANT), id, Map.of("roles", List.of("member"))).statusCode(200);

        patch(demoted, id, Map.of("roles", List.of("tenant-admin")))
                .statusCode(403)
                .body("detail", containsString("since your token was issued"));
        Map<String, Object> helper = person("jo-helper");
        helper.put("roles", List.of("tenant-admin"));
        invite(demoted, helper).statusCode(403);
        assertThat(idOf("jo-helper")).isNull();

        String disabled = personToken(TENANT, "disabled-admin", List.of("tenant-admin"), List.of());
        String disabledId = idOf("disabled-admin");
        patch(adminToken(TENANT), disabledId, Map.of("enabled", false)).statusCode(200);
        assertThat(patch(disabled, disabledId, Map.of("enabled", true))
                        .extract()
                        .statusCode())
                .isIn(401, 403);
        request(adminToken(TENANT))
                .get(PEOPLE + "/" + disabledId)
                .then()
                .body("person.enabled", equalTo(false))
                .body("person.email", equalTo("disabled-admin@" + TENANT + ".test"))
                .body("person.firstName", equalTo("The"));
        patch(adminToken(TENANT), disabledId, Map.of("enabled", false)).statusCode(200);
    }

    @Test
    void anAdminByAGroupMayChangePeople() {
        String realm = "/admin/realms/" + TENANT;
        Identity.admin()
                .body(Map.of("name", "admins-by-group"))
                .post(realm + "/groups")
                .then()
                .statusCode(201);
        String group = Identity.admin()
                .get(realm + "/group-by-path/admins-by-group")
                .then()
                .statusCode(200)
                .extract()
                .path("id");
        Map<String, Object> role =
                Identity.admin().get(realm + "/roles/tenant-admin").as(new io.restassured.common.mapper.TypeRef<>() {});
        Identity.admin()
                .body(List.of(role))
                .post(realm + "/groups/" + group + "/role-mappings/realm")
                .then()
                .statusCode(204);
        String admin = personToken(TENANT, "admin-by-group", List.of(), List.of("/admins-by-group"));

        invite(admin, person("jo-by-group")).statusCode(201);
    }

    @Test
    void anInvitationIsRepeatedWholeAndNeverForSomeoneWhoHasSignedIn() {
        Map<String, Object> jo = person("jo-repeated");
        jo.put("roles", List.of("viewer"));
        String id = invite(adminToken(TENANT), jo).statusCode(201).extract().path("id");
        patch(adminToken(TENANT), id, Map.of("enabled", false)).statusCode(200);
        jo.put("email", "jo@other.example.com");
        jo.put("firstName", "Jo");
        jo.put("roles", List.of("member"));
        invite(adminToken(TENANT), jo).statusCode(201).body("id", equalTo(id));
        request(adminToken(TENANT))
                .get(PEOPLE + "/" + id)
                .then()
                .body("person.email", equalTo("jo@other.example.com"))
                .body("person.firstName", equalTo("Jo"))
                .body("person.enabled", equalTo(true))
                .body("person.invited", equalTo(true))
                .body("roles", contains("member"));
        request(adminToken(TENANT))
                .queryParam("pageSize", 1)
                .get("/v1/tenants/" + TENANT + "/audit-entries")
                .then()
                .body("items[0].resource", equalTo("people/jo-repeated"))
                .body("items[0].before.email", equalTo("jo-repeated@example.com"))
                .body("items[0].before.roles", contains("viewer"))
                .body("items[0].before.enabled", equalTo(false))
                .body("items[0].after.enabled", equalTo(true));

        // A real account with a password that must be changed: as after a reset by an admin.
        for (String person : List.of("jo-repeated", "reset-person")) {
            personToken(TENANT, person.equals("jo-repeated") ? "unrelated" : person, List.of("member"), List.of());
            String there = idOf(person);
            Identity.admin()
                    .body(Map.of("type", "password", "value", "a-password-of-their-own", "temporary", true))
                    .put("/admin/realms/" + TENANT + "/users/" + there + "/reset-password")
                    .then()
                    .statusCode(204);
            invite(adminToken(TENANT), person(person)).statusCode(409).body("code", equalTo("user-exists"));
            request(operatorToken())
                    .body(person(person))
                    .post("/v1/operator/tenants/" + TENANT + "/admins")
                    .then()
                    .statusCode(409)
                    .body("code", equalTo("user-exists"));
        }
    }

    @Test
    void namesOfServiceAccountsAreNoUsernames() {
        invite(adminToken(TENANT), person("service-account-automation"))
                .statusCode(400)
                .body("errors.field", contains("username"))
                .body("errors[0].accepted", containsString("not service-account-"));
        request(operatorToken())
                .body(person("service-account-portal"))
                .post("/v1/operator/tenants/" + TENANT + "/admins")
                .then()
                .statusCode(400)
                .body("errors.field", contains("username"));
    }

    @Test
    void onlyAdminsOfTheTenantReachItsPeople() {
        String id = idOf("viewer");
        for (String token : List.of(
                memberToken(TENANT, "rnd-member"),
                personToken(TENANT, "a-group-admin", List.of("group-admin"), List.of("/rnd")))) {
            request(token).get(PEOPLE).then().statusCode(403);
            invite(token, person("jo-forbidden")).statusCode(403);
            patch(token, id, Map.of("roles", List.of("tenant-admin"))).statusCode(403);
        }
        for (String token : List.of(operatorToken(), adminToken(OTHER))) {
            request(token).get(PEOPLE + "/" + id).then().statusCode(404);
            invite(token, person("jo-forbidden")).statusCode(404);
        }
        request(adminToken(OTHER))
                .get("/v1/tenants/" + OTHER + "/people/" + id)
                .then()
                .statusCode(404);
        request(adminToken(TENANT))
                .get("/v1/tenants/" + TENANT + "/people/not-an-id")
                .then()
                .statusCode(404);
        request(adminToken(TENANT)).get(PEOPLE).then().body("items.username", not(containsInAnyOrder("jo-forbidden")));
    }

    @Test
    void aRealmWithAMailServerSendsTheInvitation() throws Exception {
        try (MailServer mail = new MailServer()) {
            Identity.admin()
                    .body(Map.of(
                            "smtpServer",
                            Map.of(
                                    "host",
                                    "127.0.0.1",
                                    "port",
                                    String.valueOf(mail.port()),
                                    "from",
                                    "realm@example.com")))
                    .put("/admin/realms/" + OTHER)
                    .then()
                    .statusCode(204);
            Map<String, Object> jo = person("jo-mail");
            request(adminToken(OTHER))
                    .body(jo)
                    .post("/v1/tenants/" + OTHER + "/people")
                    .then()
                    .statusCode(201)
                    .body("invitedBy", equalTo("mail"))
                    .body("temporaryPassword", nullValue());
            assertThat(mail.next()).contains("jo-mail@example.com").contains("/realms/" + OTHER + "/");
        }
        // The server is gone: Keycloak fails, and an entry says so.
        request(adminToken(OTHER))
                .body(person("jo-unreached"))
                .post("/v1/tenants/" + OTHER + "/people")
                .then()
                .statusCode(502)
                .body("code", equalTo("identity-refused"));
        request(adminToken(OTHER))
                .get("/v1/tenants/" + OTHER + "/audit-entries")
                .then()
                .body(
                        "items.findAll { it.resource == 'people/jo-unreached' }.action",
                        contains("people:invite-failed", "people:invite"));
        Identity.admin()
                .body(Map.of("smtpServer", Map.of()))
                .put("/admin/realms/" + OTHER)
                .then()
                .statusCode(204);
    }

    /** A mail server that keeps what it is sent. */
    private static final class MailServer implements AutoCloseable {
        private final ServerSocket server;
        private final BlockingQueue<String> mails = new LinkedBlockingQueue<>();

        MailServer() throws IOException {
            server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
            Thread.startVirtualThread(() -> {
                while (!server.isClosed()) {
                    try (Socket client = server.accept()) {
                        serve(client);
                    } catch (IOException e) {
                        // The server is closed, or its client has gone.
                    }
                }
            });
        }

        int port() {
            return server.getLocalPort();
        }

        String next() throws InterruptedException {
            String mail = mails.poll(30, TimeUnit.SECONDS);
            assertThat(mail).as("a mail").isNotNull();
            return mail;
        }

        private void serve(Socket client) throws IOException {
            BufferedReader in =
                    new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.US_ASCII));
            say(client, "220 test");
            StringBuilder mail = new StringBuilder();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                mail.append(line).append('\n');
                if (line.equals("DATA")) {
                    say(client, "354 go on");
                    for (String text = in.readLine(); !text.equals("."); text = in.readLine()) {
                        mail.append(text).append('\n');
                    }
                    mails.add(mail.toString().replace("=\n", ""));
                    say(client, "250 taken");
                } else if (line.equals("QUIT")) {
                    say(client, "221 bye");
                    return;
                } else {
                    say(client, "250 ok");
                }
            }
        }

        private static void say(Socket client, String line) throws IOException {
            client.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.US_ASCII));
            client.getOutputStream().flush();
        }

        @Override
        public void close() throws IOException {
            server.close();
        }
    }
}
