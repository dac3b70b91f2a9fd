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
 * Scenario of a simulation: a cluster, its quotas, work over time, and the expected state at certain moments. Times are
 * milliseconds from the beginning.
 *
 * @param cycles the number of plans per moment; empty = until a plan has no decisions
 * @param setup the pools, nodes, quotas and profiles
 * @param timeline the events in order of time
 * @param expectations the expectations in order of time
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

    /** A workload with the duration of each of its runs; empty = until the timeline ends it. */
    public record Job(Workload workload, OptionalLong durationMillis) {}

    /** The acts at a moment, in their order. */
    public record Event(long atMillis, List<Act> acts) {
        public Event {
            acts = List.copyOf(acts);
        }
    }

    /** Act of the timeline. */
    public sealed interface Act {
        record Submit(Job job) implements Act {}

        /** The workload finishes, fails or is cancelled; the simulation does not distinguish these. */
        record End(WorkloadId workload) implements Act {}

        record NodeDown(NodeId node) implements Act {}

        record NodeUp(NodeId node) implements Act {}

        record SetQuota(Quota quota) implements Act {}

        /**
         * These workloads go first in their queue, in this order within their priority; the others lose their place.
         */
        record OrderQueue(QueueId queue, List<WorkloadId> first) implements Act {
            public OrderQueue {
                first = List.copyOf(first);
            }
        }

        record SetQueue(Change.QueueSet queue) implements Act {}

        record SetBudget(Change.BudgetSet budget) implements Act {}
    }
}
