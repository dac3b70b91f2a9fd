package io.quartermaster.dispatch;

import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.platform.SystemTransaction;
import java.util.Optional;
import java.util.function.Function;
import org.jboss.logging.Logger;

/**
 * Finds, when turns fail and no inbox row is to blame, the stored workload with which no plan can be made, and sets it aside: it alone
 * waits then, and not the cell. Plans are made and thrown away with the oldest workloads only, more or fewer by halves, until one is found
 * with which they fail and without which they do not. Where they fail without any workload the cause is elsewhere: then nothing is done.
 */
final class Examination {

    private static final Logger LOG = Logger.getLogger(Examination.class);

    /** Workloads that one examination sets aside at most. */
    private static final int MOST = 10;

    private final SystemDatabase database;
    private final DispatchConfig config;

    Examination(SystemDatabase database, DispatchConfig config) {
        this.database = database;
        this.config = config;
    }

    /** Returns how many were set aside; none when another leads, the database is away, or the cause is something else. */
    int run(long epoch) {
        int setAside = 0;
        try {
            while (setAside < MOST && findOne(epoch)) {
                setAside++;
            }
        } catch (RuntimeException e) {
            LOG.warnf("stored workloads could not be examined: %s", e.getMessage());
        }
        return setAside;
    }

    private boolean findOne(long epoch) {
        long[] sequences =
                fenced(epoch, (tx, fence) -> new CellReader(tx).liveSequences()).orElseGet(() -> new long[0]);
        if (sequences.length == 0 || !canPlan(epoch, 0) || canPlan(epoch, Long.MAX_VALUE)) {
            return false;
        }
        int good = 0;
        int bad = sequences.length;
        while (bad - good > 1) {
            int middle = (good + bad) >>> 1;
            if (canPlan(epoch, sequences[middle - 1])) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        // Once more around it: an outage in between must not look like its fault.
        long without = good == 0 ? 0 : sequences[good - 1];
        long with = sequences[bad - 1];
        return canPlan(epoch, without) && !canPlan(epoch, with) && canPlan(epoch, without) && setAside(epoch, with);
    }

    private boolean canPlan(long epoch, long throughSequence) {
        try {
            return fenced(epoch, (tx, fence) -> {
                        Leader.rehearse(tx, fence, config.cell(), EngineSettings.of(config), throughSequence);
                        return true;
                    })
                    .isPresent();
        } catch (RuntimeException e) {
            LOG.debugf("no plan with workloads through %d: %s", throughSequence, e.getMessage());
            return false;
        }
    }

    private boolean setAside(long epoch, long sequence) {
        Optional<String> which = fenced(
                        epoch,
                        (tx, fence) ->
                                SetAsideWork.mark(tx, fence, config.cell(), sequence, "every plan with it failed"))
                .flatMap(Function.identity());
        which.ifPresent(one -> LOG.errorf(
                "ALARM: %s is set aside: every plan with it failed. What it holds stays its own; the next leader looks at it anew",
                one));
        return which.isPresent();
    }

    private interface Work<T> {
        T with(SystemTransaction transaction, Fence fence);
    }

    /** Empty when another leads. */
    private <T> Optional<T> fenced(long epoch, Work<T> work) {
        return database.run(config.commitTimeout(), tx -> Fence.take(tx, config.cell(), epoch, config.lease())
                .map(fence -> work.with(tx, fence)));
    }
}
