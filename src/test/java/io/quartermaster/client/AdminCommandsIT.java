package io.quartermaster.client;

import static io.quartermaster.tenancy.TestTenants.adminToken;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.governance.SharedPool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.config.ConfigProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands of tenant admins and operators against the service and its Keycloak. */
@QuarkusTest
class AdminCommandsIT extends SharedPool {

    private static final int DEPARTMENTS = 10;
    private static final String POLICY = """
            kind: policy
            name: rnd
            spec: {group: /rnd, profiles: [%s], quotas: [{pool: governed, reserved: %s, limit: 9}]}
            """;

    private ClientRun client;
    private Path folder;

    @BeforeEach
    void signIn(@TempDir Path home) {
        folder = home;
        client = new ClientRun(home)
                .with("QM_SERVER", server())
                .with("QM_TENANT", A)
                .with("QM_TOKEN", adminToken(A));
    }

    private static String server() {
        String url = ConfigProvider.getConfig().getValue("test.url", String.class);
        return url.endsWith("/") ? url.substring(0, url.length() - 1) : url;
    }

    private String file(String name, String text) throws Exception {
        return Files.writeString(folder.resolve(name), text).toString();
    }

    /** Runs a command that succeeds; returns its output. */
    private String run(String... arguments) {
        ClientRun.Result result = client.run(arguments);
        assertThat(result.exitCode())
                .as(String.join(" ", arguments) + "\n" + result.out() + result.err())
                .isZero();
        return result.out();
    }

    /** Twenty groups in ten departments, with a policy for each group and each department. */
    private String wholeTenant() throws Exception {
        StringBuilder documents = new StringBuilder("""
                kind: access-rule
                name: department-1-whole
                spec: {subjectKind: everyone}
                ---
                kind: profile
                name: whole
                spec: {gpus: 1, workers: 2, pools: [governed], nodeLabels: {rack: 7}, maxRuntime: 90m}
                ---
                kind: queue
                name: night
                spec: {policy: department-2, profile: 1xgpu, state: held, maxWaiting: 50}
                """);
        String policy = """
                ---
                kind: policy
                name: %s
                spec:
                  group: %s
                  profiles: [%s]
                  grace: 1m
                  quotas: [{pool: governed, reserved: %s, limit: 4, weight: 2}]
                """;
        for (int department = 1; department <= DEPARTMENTS; department++) {
            for (String team : List.of("a", "b")) {
                String path = "/department-" + department + "/" + team;
                documents.append("---\nkind: group\nname: ").append(path).append('\n');
                documents.append(policy.formatted("team-" + department + team, path, "whole", "0.5"));
            }
            documents.append(policy.formatted("department-" + department, "/department-" + department, "whole", "1.0"));
        }
        return file("tenant.yaml", documents.toString());
    }

    @Test
    void aWholeTenantIsAppliedTwiceAndTheSecondTimeChangesNothing() throws Exception {
        String file = wholeTenant();
        try {
            applyTwice(file);
        } finally {
            // Other tests of this tenant count its profiles.
            run("get", "policies", "-o", "name").lines().forEach(policy -> admin().delete(
                            TENANT + "/policies/" + policy));
            admin().delete(TENANT + "/profiles/whole").then().statusCode(200);
        }
    }

    private void applyTwice(String file) throws Exception {
        String preview = run("apply", "-f", file, "--dry-run");
        assertThat(run("get", "policies", "-o", "name")).isEmpty();
        String first = run("apply", "-f", file);
        String stored = run("get", "all", "--documents") + run("get", "policies", "-o", "json");
        String second = run("apply", "-f", file);

        String summary = "Plan: 53 to create, 0 to change, 0 unchanged.\n";
        assertThat(preview).endsWith(summary).contains("+ policy team-7b\n", "+ queue night\n");
        assertThat(first).contains(summary).endsWith("access-rule department-1-whole for everyone is created.\n");
        assertThat(run("get", "policies", "-o", "name").lines()).hasSize(30);
        assertThat(run("get", "access-rules", "night")).contains("group", "/department-2");
        assertThat(second).isEqualTo("Plan: 0 to create, 0 to change, 53 unchanged.\n");
        assertThat(run("get", "all", "--documents") + run("get", "policies", "-o", "json"))
                .isEqualTo(stored);
        String all = file("all.yaml", run("get", "all", "--documents"));
        assertThat(run("apply", "-f", all)).startsWith("Plan: 0 to create, 0 to change, ");
    }

    @Test
    void aCutBelowWhatRunsIsPreviewedAndRefused() throws Exception {
        made(policy("rnd", "/rnd", "6", "9", "3xgpu"));
        running("rnd-3xgpu", 3000);
        running("rnd-3xgpu", 3000);
        String cut = file("cut.yaml", POLICY.formatted("3xgpu", "4"));
        try {
            ClientRun.Result previewed = client.run("apply", "-f", cut, "--dry-run");
            ClientRun.Result refused = client.run("apply", "-f", cut);

            assertThat(List.of(previewed.exitCode(), refused.exitCode())).containsOnly(5);
            assertThat(previewed.out())
                    .contains(
                            "~ policy rnd\n    quotas.governed.reserved: 6 -> 4\n",
                            "reserved by the tenant's groups in governed: 6 -> 4 of 10\n",
                            "! 1 running job becomes over-quota, so other work may stop it\n")
                    .isEqualTo(refused.out());
            assertThat(refused.err())
                    .startsWith("qm: the plan is refused; nothing was changed\n  policy rnd: 1 running job");
            assertThat(run("get", "policy", "rnd", "-o", "json")).contains("\"reserved\" : \"6\"", "\"version\" : 0");

            assertThat(run("apply", "-f", cut, "--stop-work")).endsWith("policy rnd is changed.\n");
            assertThat(run("get", "policy", "rnd", "-o", "json")).contains("\"reserved\" : \"4\"");
            assertThat(run("apply", "-f", cut)).startsWith("Plan: 0 to create, 0 to change, 1 unchanged.");
        } finally {
            removeRunning();
        }
    }

    @Test
    void aQueueWithWaitingWorkIsRetiredOnDemandOnly() throws Exception {
        made(policy("rnd", "/rnd", "6", "9", "1xgpu", "3xgpu"));
        waiting("rnd-3xgpu", "queued");
        String without = file("without.yaml", POLICY.formatted("1xgpu", "6"));

        ClientRun.Result refused = client.run("apply", "-f", without);

        assertThat(refused.exitCode()).isEqualTo(5);
        assertThat(refused.out())
                .contains(
                        "    profiles: [1xgpu, 3xgpu] -> [1xgpu]\n    retires queue rnd-3xgpu\n",
                        "    ! 1 waiting job is cancelled\n");
        assertThat(run("get", "queues", "-o", "name")).contains("rnd-3xgpu\n");
        run("apply", "-f", without, "--stop-work");
        assertThat(run("get", "queues", "-o", "name")).isEqualTo("rnd-1xgpu\n");
    }

    @Test
    void reservationsThatMakeRoomForEachOtherAreMadeInThatOrder() throws Exception {
        made(policy("rnd", "/rnd", "8", "9", "1xgpu"));
        String swap = file("swap.yaml", """
                {kind: policy, name: early, spec: {group: /devops, profiles: [1xgpu],
                  quotas: [{pool: governed, reserved: 6}]}}
                ---
                """ + POLICY.formatted("1xgpu", "4"));
        String much = file("much.yaml", """
                {kind: policy, name: early, spec: {group: /devops, profiles: [1xgpu],
                  quotas: [{pool: governed, reserved: 9}]}}
                """);

        assertThat(client.run("apply", "-f", much).err()).contains("policy early: ", "governed");
        assertThat(run("apply", "-f", swap)).endsWith("policy rnd is changed.\npolicy early is created.\n");
    }

    @Test
    void aDocumentOfAQueueAndOfAProfileIsAPatch() throws Exception {
        made(policy("rnd", "/rnd", "6", "9", "1xgpu"));
        String changes = file("changes.yaml", """
                {kind: queue, name: rnd-1xgpu, spec: {order: strict-fifo, maxWaiting: 7}}
                ---
                {kind: profile, name: 1xgpu, spec: {maxRuntime: 2h}}
                """);
        try {
            assertThat(run("apply", "-f", changes))
                    .contains(
                            "~ profile 1xgpu\n    maxRuntime: none -> PT2H\n",
                            "~ queue rnd-1xgpu\n",
                            "    maxWaiting: 10000 -> 7\n",
                            "    order: skip-ahead -> strict-fifo\n");
            assertThat(run("apply", "-f", changes)).startsWith("Plan: 0 to create, 0 to change, 2 unchanged.");
        } finally {
            run("apply", "-f", file("back.yaml", "{kind: profile, name: 1xgpu, spec: {maxRuntime: null}}"));
        }
    }

    @Test
    void usageIsSummedByGroupAndMonth() {
        String month = YearMonth.now(ZoneOffset.UTC).toString();

        assertThat(run("usage", "--by", "group", "--month", month)).startsWith("GROUP  HELD ");
        assertThat(run("usage", "--by", "pool,user", "-o", "json")).contains("\"groupBy\"");
        assertThat(client.run("usage", "--by", "colour").exitCode()).isEqualTo(5);
    }

    @Test
    void anOperatorSignsInAndSeesTheDeployment() throws Exception {
        request(operatorToken())
                .body(Map.of("name", "admin-cluster", "kind", "agent", "region", "eu-central"))
                .post("/v1/operator/clusters");
        request(operatorToken()).body(Map.of("name", "admin-pool")).post("/v1/operator/pools");
        request(operatorToken())
                .body(Map.of("name", "admin-node", "cluster", "admin-cluster", "pool", "admin-pool"))
                .post("/v1/operator/nodes");
        assertThat(client.run("nodes").exitCode()).isEqualTo(4);
        client = new ClientRun(folder).with("QM_CLIENT_SECRET", "cli-secret-of-the-tests");
        run("context", "add", "ops", "--server", server(), "--tenant", "operator");
        run("login", "--client-id", "quartermaster-cli");

        assertThat(run("whoami")).contains("Tenant   operator");
        assertThat(run("nodes", "cordon", "admin-node")).isEqualTo("admin-node takes no new work.\n");
        assertThat(run("nodes", "--closed", "-o", "name")).contains("admin-node\n");
        run("nodes", "drain", "admin-node", "--timeout", "1m");
        run("nodes", "uncordon", "admin-node");
        assertThat(run("nodes", "list", "--pool", "admin-pool"))
                .contains("admin-node  admin-pool  admin-cluster  never-heard");
        assertThat(run("nodes", "credential", "admin-node")).contains("Secret    ");
        assertThat(run("pools", "-o", "name")).contains("admin-pool\n", POOL + "\n");
        assertThat(run("fleet", "--pool", "admin-pool")).contains("admin-node  admin-pool  down");
        assertThat(run("fleet", "-o", "json")).contains("admin-node");
        assertThat(run("tenants", "-o", "name")).contains(A + "\n");
        String operation = run("operations", "--of", A, "--kind", "provision-tenant", "-o", "name")
                .strip();
        assertThat(run("operations", operation, "--wait")).contains("provision-tenant", "succeeded");
        run("quarantine");
        assertThat(client.run("quarantine", "retry", "workload-none").exitCode())
                .isBetween(4, 5);
        String allotment = file("allotment.yaml", """
                {kind: tenant, name: governance-a, spec: {plan: demo}}
                ---
                {kind: allotment, name: governance-a/governed, spec: {reserved: 10, limit: %s}}
                """);
        assertThat(run(
                        "tenants",
                        "apply",
                        "-f",
                        file("same.yaml", Files.readString(Path.of(allotment)).formatted("10"))))
                .startsWith("Plan: 0 to create, 0 to change, 2 unchanged.");
        assertThat(run(
                        "tenants",
                        "apply",
                        "--dry-run",
                        "-f",
                        file("more.yaml", Files.readString(Path.of(allotment)).formatted("12"))))
                .startsWith("~ allotment governance-a/governed\n    limit: 10 -> 12\n");
        assertThat(client.run("tenants", "offboard", A, "--dry-run").exitCode()).isEqualTo(5);
    }
}
