package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import java.util.Optional;

/**
 * An allocation that a workload holds, or that is nominated for it, with all that pools and quota trees need to know.
 *
 * @param whole whether the whole workload starts or ends with it, rather than some of its surplus workers
 */
public record Booking(
        QuotaPath path, Optional<String> user, Shape shape, boolean preemptible, Allocation allocation, boolean whole) {

    String tenant() {
        return path.tenant();
    }

    public long gpuMilli() {
        return allocation.gpuMilli();
    }

    /** This booking for the node of one worker, with the shape of that worker. */
    public Booking ofWorker(Allocation.Worker worker) {
        return shape.isPlain()
                ? this
                : new Booking(path, user, shape.of(worker.number()), preemptible, allocation, whole);
    }

    /** A part of this booking. */
    public Booking of(Allocation part, boolean withTheCore) {
        return new Booking(path, user, shape, preemptible, part, withTheCore);
    }

    /** This booking at another place. */
    public Booking at(Allocation place) {
        return of(place, whole);
    }
}
