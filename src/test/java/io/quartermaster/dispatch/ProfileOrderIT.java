package io.quartermaster.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quarkus.test.junit.TestProfile;
import io.quartermaster.testing.WithoutLeader;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The order of profiles that the operator sets for a pool. */
@QuarkusTest
@TestProfile(WithoutLeader.class)
class ProfileOrderIT extends LedByHand {

    private static final String SMALL = "1x1";
    private static final String LARGE = "2x1";

    @Test
    void withoutAnOrderTheWorkThatWasSubmittedFirstStartsFirst() {
        assertThat(statesOfSmallAndLarge("profile-order-none", new String[0])).containsExactly("starting", "waiting");
    }

    @Test
    void workOfTheFirstProfileStartsFirst() {
        assertThat(statesOfSmallAndLarge("profile-order-large", new String[] {LARGE, SMALL}))
                .containsExactly("waiting", "starting");
    }

    @Test
    void profileOutsideTheOrderComesLast() {
        assertThat(statesOfSmallAndLarge("profile-order-one", new String[] {LARGE}))
                .containsExactly("waiting", "starting");
    }

    /** Two GPUs, on which either the small workload, submitted first, or the large one has room. */
    private List<String> statesOfSmallAndLarge(String tenant, String[] order) {
        CellRows rows = new CellRows(database, tenant);
        UUID pool = rows.poolOf(2);
        rows.run("update pool set profile_order = $2 where id = $1", pool, order);
        UUID policy = rows.policy("/all", pool, 2, 2);
        UUID small = rows.profile(1, pool);
        UUID large = rows.profile(2, pool);
        UUID first = rows.submit(rows.queue(policy, small), policy, small);
        UUID second = rows.submit(rows.queue(policy, large), policy, large);
        cell.settle();
        return List.of(rows.state(first), rows.state(second));
    }
}
