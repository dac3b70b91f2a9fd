package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.metering.Superuser;
import io.quartermaster.testing.WithoutLeader;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** An allocation keeps the labels that its workload has, under the keys that the tenant declares, when it begins. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class LabelsOfAllocationsIT extends LedByHand {

    private static void declare(CellRows rows, String keys) {
        Superuser.run("insert into usage_settings (tenant_id, label_keys, time_zone, version) values ('" + rows.tenant
                + "', '" + keys + "', 'UTC', 1) on conflict (tenant_id) do update set label_keys = "
                + "excluded.label_keys");
    }

    private static void label(CellRows rows, UUID workload, JsonObject labels) {
        rows.run("update workload set labels = $3 where tenant_id = $1 and id = $2", rows.tenant, workload, labels);
    }

    private static List<String> allocated(CellRows rows) {
        return rows
                .run(
                        "select format || ' ' || coalesce(marks ->> 'labels', 'none') as labels from usage_event "
                                + "where tenant_id = $1 and kind = 'allocated' order by seq",
                        rows.tenant)
                .stream()
                .map(row -> row.getString("labels"))
                .toList();
    }

    @Test
    void aDeclarationCountsFromTheNextAllocationOn() {
        CellRows rows = new CellRows(database, "labels-leader");
        UUID pool = rows.poolOf(8);
        UUID policy = rows.policy("/all", pool, 8, 8);
        UUID profile = rows.profile(1, pool);
        UUID queue = rows.queue(policy, profile);
        UUID before = rows.submit(queue, policy, profile);
        label(rows, before, new JsonObject().put("team", "nlp"));
        cell.settle();

        declare(rows, "{stage,team}");
        UUID labelled = rows.submit(queue, policy, profile);
        label(rows, labelled, new JsonObject().put("team", "nlp").put("other", "x"));
        cell.settle();
        UUID plain = rows.submit(queue, policy, profile);
        cell.settle();
        label(rows, labelled, new JsonObject().put("team", "cv"));
        run(rows, labelled);
        declare(rows, "{other}");
        UUID later = rows.submit(queue, policy, profile);
        label(rows, later, new JsonObject().put("team", "nlp").put("other", ""));
        cell.settle();
        declare(rows, "{}");
        UUID last = rows.submit(queue, policy, profile);
        label(rows, last, new JsonObject().put("team", "nlp"));
        cell.settle();

        assertThat(List.of(before, labelled, plain, later, last))
                .allSatisfy(workload -> assertThat(rows.state(workload)).isIn("starting", "running"));
        assertThat(allocated(rows))
                .containsExactly(
                        "1 none",
                        "2 {\"team\": \"nlp\", \"stage\": null}",
                        "2 {\"team\": null, \"stage\": null}",
                        "2 {\"other\": \"\"}",
                        "1 none");
        assertThat(rows.run(
                        "select distinct format from usage_event where tenant_id = $1 and kind <> 'allocated'",
                        rows.tenant))
                .extracting(row -> row.getInteger("format"))
                .containsExactly(1);
    }

    @Test
    void theKeysOfOneTenantAreNotThoseOfAnother() {
        CellRows declaring = new CellRows(database, "labels-leader-a");
        CellRows other = new CellRows(database, "labels-leader-b");
        declare(declaring, "{team}");
        for (CellRows rows : List.of(declaring, other)) {
            UUID pool = rows.poolOf(1);
            UUID policy = rows.policy("/all", pool, 1, 1);
            UUID profile = rows.profile(1, pool);
            label(rows, rows.submit(rows.queue(policy, profile), policy, profile), new JsonObject().put("team", "nlp"));
        }
        cell.settle();

        assertThat(allocated(declaring)).containsExactly("2 {\"team\": \"nlp\"}");
        assertThat(allocated(other)).containsExactly("1 none");
    }
}
