package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import java.util.List;

/**
 * A representative cell for benchmarks outside of the engine.
 *
 * @param text its scale
 * @param base its pools, nodes and quotas
 * @param waiting the workloads that wait before the first plan
 * @param beginMillis the time of the first plan, to which the submission times belong
 */
public record BenchmarkCell(
        String text, Settings settings, List<Change> base, List<Workload> waiting, long beginMillis) {

    /** The cell at the scale that system properties state. */
    public static BenchmarkCell configured() {
        CellScale scale = CellScale.configured();
        RepresentativeCell cell = new RepresentativeCell(scale, CellVariant.BASE);
        List<Workload> waiting = cell.queue().stream()
                .map(change -> ((Change.WorkloadSet) change).workload())
                .toList();
        return new BenchmarkCell(scale.text(), cell.settings(), cell.base(), waiting, RepresentativeCell.BEGIN_MILLIS);
    }
}
