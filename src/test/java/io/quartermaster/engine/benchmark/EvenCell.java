package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.BenchCell;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import java.util.List;

/**
 * The cell of {@code EngineBenchmark}: 10,000 GPUs in one pool, all reserved in equal parts by a hundred groups, and
 * 100,000 waiting workloads.
 */
record EvenCell(boolean mix) implements CellSource {
    private static final int NODES = 1_250;
    private static final int WAITING = 100_000;
    private static final long SEED = 7;

    @Override
    public Settings settings() {
        return Settings.DEFAULT;
    }

    @Override
    public List<Change> base() {
        List<Change> base = BenchCell.nodes(NODES);
        base.addAll(BenchCell.quotas(NODES * RepresentativeCell.GPUS_PER_NODE));
        return base;
    }

    @Override
    public List<Change> queue() {
        return BenchCell.jobs(WAITING, mix, SEED);
    }

    @Override
    public Workload arrival(long nowMillis) {
        throw new UnsupportedOperationException("no work arrives in the even cell");
    }

    String text() {
        return mix ? "mix of halves, 1, 2, 4 and 8 GPUs" : "1 GPU each";
    }
}
