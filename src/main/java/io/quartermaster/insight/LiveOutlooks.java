package io.quartermaster.insight;

import io.quartermaster.engine.model.Wait;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.simulation.Foretold;
import io.quartermaster.workloads.Outlooks;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Outlooks from this replica's view of the cell. An explanation is worth more soon than whole, so none is waited for long. */
@ApplicationScoped
class LiveOutlooks implements Outlooks {

    private final LiveCell cell;

    LiveOutlooks(LiveCell cell) {
        this.cell = cell;
    }

    @Override
    public Uni<Optional<Prospect>> of(UUID workload) {
        WorkloadId id = new WorkloadId(workload.toString());
        return cell.soon(view -> prospect(view, id));
    }

    private static Prospect prospect(CellView view, WorkloadId id) {
        Optional<Foretold.Start> start =
                Optional.ofNullable(view.forecast().fates().get(id)).flatMap(Foretold.Fate::start);
        Optional<Wait> wait = view.wait(id);
        return new Prospect(
                Instant.ofEpochMilli(view.snapshot().asOfMillis()),
                wait.isPresent() ? Standing.WAITS : view.standing(id),
                wait.map(Wait::perPool).orElse(List.of()),
                view.outlook(id),
                start.map(known -> Instant.ofEpochMilli(known.atMillis())));
    }
}
