package io.quartermaster.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class WorkloadTableTest {
    private static final PoolId POOL = new PoolId("pool");

    @Test
    void itHoldsWhatAMapInOrderOfInsertionHolds() {
        for (int seed = 1; seed <= 50; seed++) {
            Random random = new Random(seed);
            WorkloadTable table = new WorkloadTable();
            Map<WorkloadId, Workload> model = new LinkedHashMap<>();
            int ids = 1 + random.nextInt(400);
            for (int step = 0; step < 2_000; step++) {
                Workload workload = workload(random.nextInt(ids), step);
                boolean removes = random.nextInt(100) < 45;
                Workload before = removes ? table.remove(workload.id()) : table.put(workload);
                Workload expected = removes ? model.remove(workload.id()) : model.put(workload.id(), workload);
                assertThat(before).as("seed %d, step %d", seed, step).isSameAs(expected);
            }
            assertThat(table).as("seed %d", seed).containsExactlyElementsOf(model.values());
            assertThat(table.size()).isEqualTo(model.size());
            model.forEach((id, workload) -> assertThat(table.get(id)).isSameAs(workload));
        }
    }

    @Test
    void aCopyIsOneOfItsOwn() {
        WorkloadTable table = new WorkloadTable();
        table.put(workload(1, 1));
        WorkloadTable copy = table.copy();
        table.remove(new WorkloadId("w1"));
        copy.put(workload(2, 2));

        assertThat(table).isEmpty();
        assertThat(copy).extracting(workload -> workload.id().value()).containsExactly("w1", "w2");
    }

    private static Workload workload(int number, int sequence) {
        return Workload.waiting(
                new WorkloadId("w" + number), QuotaPath.of("acme"), Shape.ofWholeGpus(1), List.of(POOL), 0, sequence);
    }
}
