package io.quartermaster.engine.placement;

import io.quartermaster.engine.Allocation;
import io.quartermaster.engine.QuotaPath;
import io.quartermaster.engine.Shape;

/** Who holds what, or is promised what: all that the books of a pool need to know of it. */
public record Tenure(QuotaPath path, Shape shape, boolean preemptible, Allocation allocation) {

    String tenant() {
        return path.tenant();
    }

    public long gpuMilli() {
        return allocation.gpuMilli();
    }

    public Tenure of(Allocation part) {
        return new Tenure(path, shape, preemptible, part);
    }
}
