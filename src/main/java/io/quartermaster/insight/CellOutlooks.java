package io.quartermaster.insight;

import io.quartermaster.engine.model.WaitReasons;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.simulation.Forecast;
import io.quartermaster.workloads.OutlookSource;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * Outlooks from this replica's view of the cell. A quick explanation is worth more than a complete one, so it does not
 * wait long for an outlook.
 */
@ApplicationScoped
class CellOutlooks implements OutlookSource {

    private final CellQueryExecutor cell;

    CellOutlooks(CellQueryExecutor cell) {
        this.cell = cell;
    }

    @Override
    public Uni<Optional<Prospect>> prospectOf(UUID workload) {
        WorkloadId id = new WorkloadId(workload.toString());
        return cell.queryWithTimeout(view -> prospect(view, id));
    }

    private static Prospect prospect(CellView view, WorkloadId id) {
        Optional<Forecast.Start> start =
                Optional.ofNullable(view.forecast().perWorkload().get(id)).flatMap(Forecast.WorkloadForecast::start);
        Optional<WaitReasons> waitReasons = view.waitReasons(id);
        return new Prospect(
                Instant.ofEpochMilli(view.snapshot().asOfMillis()),
                waitReasons.isPresent() ? Status.WAITS : view.status(id),
                waitReasons.map(WaitReasons::perPool).orElse(List.of()),
                view.outlook(id),
                start.map(known -> Instant.ofEpochMilli(known.atMillis())));
    }
}
