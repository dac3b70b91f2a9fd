package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import java.util.Optional;

/**
 * Who holds what, or is promised what: all that the books need to know of it.
 *
 * @param whole whether the workload as such comes and goes with it, rather than some of its surplus workers
 */
public record Booking(
        QuotaPath path, Optional<String> user, Shape shape, boolean preemptible, Allocation allocation, boolean whole) {

    String tenant() {
        return path.tenant();
    }

    public long gpuMilli() {
        return allocation.gpuMilli();
    }

    /** The same as it concerns the node of one worker: with what that worker needs. */
    Booking ofWorker(Allocation.Worker worker) {
        return shape.isPlain()
                ? this
                : new Booking(path, user, shape.of(worker.number()), preemptible, allocation, whole);
    }

    /** A part of it. */
    public Booking of(Allocation part, boolean withTheCore) {
        return new Booking(path, user, shape, preemptible, part, withTheCore);
    }

    /** The same elsewhere. */
    public Booking at(Allocation place) {
        return of(place, whole);
    }
}
