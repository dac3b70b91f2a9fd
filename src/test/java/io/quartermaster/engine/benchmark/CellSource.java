package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import java.util.List;

/** Source of a cell for a benchmark: its capacity, its quotas, its waiting work, and the work that arrives later. */
interface CellSource {

    Settings settings();

    /** Pools, nodes, quotas and budgets. */
    List<Change> base();

    /** The workloads that wait before the first plan. */
    List<Change> queue();

    /** The next workload that is submitted. */
    Workload arrival(long nowMillis);
}
