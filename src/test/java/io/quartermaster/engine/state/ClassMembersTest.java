package io.quartermaster.engine.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import java.util.Random;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class ClassMembersTest {

    private static Workload submitted(long millis, int number) {
        return Workload.waiting(
                new WorkloadId("w" + number),
                QuotaPath.of("t"),
                Shape.ofWholeGpus(1),
                List.of(new PoolId("pool")),
                millis,
                number);
    }

    @Test
    void theyStayInOrderWhoeverComesAndGoes() {
        Random random = new Random(5);
        ClassMembers classMembers = new ClassMembers();
        SortedSet<Workload> expected = new TreeSet<>(SchedulingClass.IN_GROUP);
        for (int step = 0; step < 4_000; step++) {
            boolean leaves = !expected.isEmpty() && random.nextInt(5) < 2;
            if (leaves) {
                Workload one = random.nextBoolean()
                        ? classMembers.getFirst()
                        : classMembers.get(random.nextInt(classMembers.size()));
                assertThat(classMembers.remove(one)).isTrue();
                expected.remove(one);
            } else {
                Workload one = submitted(random.nextInt(50), step);
                classMembers.add(one);
                expected.add(one);
                assertThat(classMembers.before(one))
                        .isEqualTo(expected.headSet(one).size());
            }
        }
        assertThat(classMembers).containsExactlyElementsOf(expected);
        assertThat(classMembers.remove(submitted(0, -1))).isFalse();
    }
}
