package io.quartermaster.engine.simulation;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.QueueId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * A cluster, the quotas on it, work over time, and what must be true at which moment. Times are milliseconds from the
 * beginning.
 *
 * @param cycles how many plans are made per instant; absent = until one changes nothing
 * @param setup pools, nodes, quotas, profiles
 * @param timeline in order of time
 * @param expectations in order of time
 */
public record Scenario(
        String name,
        OptionalInt cycles,
        Settings settings,
        List<Change> setup,
        List<Job> jobs,
        List<Event> timeline,
        List<Expectation> expectations) {

    public Scenario {
        setup = List.copyOf(setup);
        jobs = List.copyOf(jobs);
        timeline = List.copyOf(timeline);
        expectations = List.copyOf(expectations);
    }

    /** A workload with how long it runs each time it is started; absent = until the timeline ends it. */
    public record Job(Workload workload, OptionalLong durationMillis) {}

    /** What happens at a moment, in this order. */
    public record Event(long atMillis, List<Act> acts) {
        public Event {
            acts = List.copyOf(acts);
        }
    }

    /** One thing that happens. */
    public sealed interface Act {
        record Submit(Job job) implements Act {}

        /** Finished, failed or cancelled: over in any case. */
        record End(WorkloadId workload) implements Act {}

        record NodeDown(NodeId node) implements Act {}

        record NodeUp(NodeId node) implements Act {}

        record SetQuota(Quota quota) implements Act {}

        /** These go first among what waits in their queue, in this order within their priority; the others have no place any more. */
        record OrderQueue(QueueId queue, List<WorkloadId> first) implements Act {
            public OrderQueue {
                first = List.copyOf(first);
            }
        }

        record SetQueue(Change.QueueSet queue) implements Act {}

        record SetBudget(Change.BudgetSet budget) implements Act {}
    }
}
