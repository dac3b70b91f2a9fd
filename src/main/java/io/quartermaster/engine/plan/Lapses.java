package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Change;
import io.quartermaster.engine.model.GivenUp;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;

import io.quartermaster.engine.placement.Horizon;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.placement.Tenure;
import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ask;
import io.quartermaster.engine.quota.Meter;
import io.quartermaster.engine.quota.When;
import java.util.Optional;

/** Judges whether places that are kept are still of use. Leaves the books as they were. */
final class Lapses {
    private final Facts facts;
    private final Books books;

    Lapses(Facts facts, Books books) {
        this.facts = facts;
        this.books = books;
    }

    /** Why a kept place would not be given today, if it would not: the devices are gone, say, or a quota was cut below it. */
    Optional<GivenUp> of(Workload workload, Tenure tenure, Space space) {
        boolean elsewhere = workload.only()
                .filter(node -> !tenure.allocation().touches(node))
                .isPresent();
        if (elsewhere) {
            return Optional.of(GivenUp.ANOTHER_NODE);
        }
        if (workload.held()) {
            return Optional.of(GivenUp.HELD);
        }
        if (facts.standing(workload.path()) != Change.Standing.GOOD) {
            return Optional.of(GivenUp.SUSPENDED);
        }
        if (!space.pool().hasExecutor()) {
            return Optional.of(GivenUp.NO_EXECUTOR);
        }
        if (!isOpen(workload, space.pool())) {
            return Optional.of(GivenUp.CLOSED);
        }
        books.cluster().remove(tenure, When.NEXT);
        Optional<GivenUp> lapse = inBooks(workload, tenure, space);
        books.cluster().add(tenure, When.NEXT);
        return lapse;
    }

    /** The same of what counts in the books, while it does not count there itself. */
    private Optional<GivenUp> inBooks(Workload workload, Tenure tenure, Space space) {
        if (!space.fits(tenure, Horizon.LATER)) {
            return Optional.of(GivenUp.NO_DEVICES);
        }
        if (Admission.ofPromised(askOf(workload, tenure.allocation()), When.NEXT)
                .isPresent()) {
            return Optional.of(GivenUp.LIMIT);
        }
        for (Meter meter : books.cluster().meters(space.pool().id(), workload.path())) {
            if (!meter.allows(tenure.gpuMilli(), workload.preemptible(), workload.maxRuntimeMillis())) {
                return Optional.of(GivenUp.BUDGET);
            }
        }
        return Optional.empty();
    }

    /** Who runs, or only moves, may be where it is to be as long as the pool takes work. */
    private boolean isOpen(Workload workload, Pool pool) {
        return workload.state() instanceof WorkloadState.Waiting
                ? books.isOpen(pool, 0, workload.preemptible(), workload.maxRuntimeMillis())
                : pool.takesWork();
    }

    /** What a kept place counts as. */
    Ask askOf(Workload workload, Allocation place) {
        return books.cluster().ask(Books.tenure(workload, place), workload.dedicatedOnly());
    }
}
