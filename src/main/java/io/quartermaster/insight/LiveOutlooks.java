package io.quartermaster.insight;

import io.quartermaster.access.CallerContext;
import io.quartermaster.engine.WorkloadId;
import io.quartermaster.engine.simulation.Foretold;
import io.quartermaster.workloads.Outlooks;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import org.jboss.logging.Logger;

/** Outlooks from this replica's view of the cell. An explanation is worth more soon than whole, so none is waited for long. */
@ApplicationScoped
class LiveOutlooks implements Outlooks {

    private static final Logger LOG = Logger.getLogger(LiveOutlooks.class);

    private final LiveCell cell;
    private final InsightConfig config;

    LiveOutlooks(LiveCell cell, InsightConfig config) {
        this.cell = cell;
        this.config = config;
    }

    @Override
    public Uni<Optional<Prospect>> of(UUID workload) {
        WorkloadId id = new WorkloadId(workload.toString());
        return CallerContext.resume(cell.ask(view -> Optional.of(prospect(view, id)))
                .ifNoItem()
                .after(config.patience())
                .recoverWithItem(Optional.empty())
                .onFailure()
                .recoverWithItem(failure -> {
                    LOG.warnf("an explanation is given without its outlook: %s", failure);
                    return Optional.empty();
                }));
    }

    private static Prospect prospect(CellView view, WorkloadId id) {
        Optional<Foretold.Start> start =
                Optional.ofNullable(view.forecast().fates().get(id)).flatMap(Foretold.Fate::start);
        return new Prospect(
                Instant.ofEpochMilli(view.snapshot().asOfMillis()),
                view.outlook(id),
                start.map(known -> Instant.ofEpochMilli(known.atMillis())));
    }
}
