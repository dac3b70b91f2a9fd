package io.quartermaster.dispatch.quarantine;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The search for the inbox row that makes cycles fail. It uses nothing but which cycles failed: each failure halves the
 * batch, each success doubles it. A row that failed alone three times is suspected. Then a cycle without any row must
 * succeed, which rules out the database and the engine. The next cycle, with exactly that row, must fail once more.
 * Only then is the row to blame.
 *
 * <p>Only failures after a cycle has read its rows count. While the database is down, cycles fail before that, so an
 * outage alone never blames a row. If the database comes back in the middle, the innocent row succeeds when it is tried
 * again.
 *
 * <p>Leftovers are the lifecycle steps that no inbox row names. Single-threaded.
 */
public final class PoisonRowFinder {

    /** The failures of a row alone until it is suspected, and of cycles with leftovers until leftovers are skipped. */
    private static final int TRIES = 3;

    /** The rows that the next cycle takes from the inbox. */
    public sealed interface Take {

        /** @param leftovers whether the cycle may also take lifecycle steps that no inbox row names */
        record Oldest(int limit, boolean leftovers) implements Take {}

        /** Tests whether cycles succeed at all. */
        record Nothing() implements Take {}

        /** Tests whether the row fails again. */
        record Only(long id) implements Take {}
    }

    private enum Stage {
        SEARCHING,
        PROBING,
        CONFIRMING
    }

    private final int batch;
    private Stage stage = Stage.SEARCHING;
    private int limit;
    private OptionalLong suspect = OptionalLong.empty();
    private int failuresOfSuspect;
    /**
     * The number of searches that began with leftovers, found no row to blame, and after which leftovers failed again.
     */
    private int failuresOfLeftovers;
    /** Whether the limit is low because cycles took too long. */
    private boolean slow;

    // The state of the current cycle.
    private Optional<List<Long>> taken = Optional.empty();
    private boolean withLeftovers;

    public PoisonRowFinder(int batch) {
        this.batch = batch;
        this.limit = batch;
    }

    /** The most cycles that fail in a row because of one row, if leftovers fail as well. */
    public static int longestSearch(int batch) {
        int halvings = Integer.SIZE - Integer.numberOfLeadingZeros(batch);
        return halvings + 2 * TRIES;
    }

    /** Begins an epoch: leftovers are tried again. */
    public void lead() {
        failuresOfLeftovers = 0;
    }

    /**
     * Whether leftovers failed so often that cycles skip them, until the next epoch or until cycles without them fail
     * too.
     */
    public boolean leavesLeftovers() {
        return failuresOfLeftovers >= TRIES;
    }

    /**
     * The number of lifecycle steps that a retry of quarantine entries may take. It is at most that of the next cycle,
     * because that cycle proves that the cause is not elsewhere. Empty during a search for a row, which makes cycles
     * fail anyway.
     */
    public OptionalInt stepsOfTry() {
        return stage == Stage.SEARCHING && (slow || limit == batch) ? OptionalInt.of(limit) : OptionalInt.empty();
    }

    /** Begins a cycle. */
    public Take take() {
        taken = Optional.empty();
        return switch (stage) {
            case SEARCHING -> new Take.Oldest(limit, (slow || limit == batch) && !leavesLeftovers());
            case PROBING -> new Take.Nothing();
            case CONFIRMING -> new Take.Only(suspect.orElseThrow());
        };
    }

    /**
     * Records that the cycle has read these rows: a failure from now on may be theirs.
     *
     * @param leftovers whether the cycle also takes lifecycle steps that no row names
     */
    public void took(List<Long> ids, boolean leftovers) {
        taken = Optional.of(List.copyOf(ids));
        withLeftovers = leftovers;
    }

    /** Whether the current cycle took rows at all: if not, no row can be the cause of its failure. */
    public boolean tookRows() {
        return taken.isPresent() && !taken.get().isEmpty();
    }

    public void succeeded() {
        switch (stage) {
            case SEARCHING, CONFIRMING -> {
                if (withLeftovers) {
                    failuresOfLeftovers = 0;
                }
                acquit();
                limit = Math.clamp(limit * 2L, 1, batch);
                slow &= limit < batch;
            }
            case PROBING -> stage = Stage.CONFIRMING;
        }
    }

    /**
     * Records a failure. Returns the row to blame once that is certain; call {@link #succeeded} when it is quarantined.
     */
    public OptionalLong failed() {
        if (taken.isEmpty()) {
            // The earlier failures of a suspect may have had the same outage as their cause.
            interrupted();
            return OptionalLong.empty();
        }
        List<Long> ids = taken.get();
        return switch (stage) {
            case SEARCHING -> {
                search(ids);
                yield OptionalLong.empty();
            }
            case PROBING -> {
                failuresOfLeftovers = 0;
                acquit();
                yield OptionalLong.empty();
            }
            case CONFIRMING -> {
                // If the row cannot be quarantined, the database failed as well: that proves nothing.
                stage = Stage.PROBING;
                yield ids.isEmpty() ? OptionalLong.empty() : suspect;
            }
        };
    }

    /** Records a failure by a temporary cause, which proves nothing. */
    public void interrupted() {
        stage = stage == Stage.CONFIRMING ? Stage.PROBING : stage;
    }

    /** Records a failure by a timeout. The cycle may have been too long, so the next one takes half as many rows. */
    public void timedOut() {
        if (stage == Stage.SEARCHING && taken.isPresent()) {
            limit = Math.max(1, limit / 2);
            slow = limit < batch;
        }
        interrupted();
    }

    /** Records that the row was quarantined: the leftovers that failed with it may be sound. */
    public void wasSetAside() {
        failuresOfLeftovers = 0;
        acquit();
    }

    private void search(List<Long> ids) {
        // Until the limit reaches that of a full batch again, cycles skip leftovers, so that each search counts once.
        slow = false;
        if (withLeftovers) {
            failuresOfLeftovers++;
        } else if (ids.isEmpty()) {
            // The cause is neither in the rows nor in the leftovers.
            failuresOfLeftovers = 0;
        }
        if (ids.size() > 1) {
            limit = Math.max(1, Math.min(limit, ids.size()) / 2);
        } else if (ids.size() == 1) {
            limit = 1;
            long only = ids.getFirst();
            failuresOfSuspect = suspect.equals(OptionalLong.of(only)) ? failuresOfSuspect + 1 : 1;
            suspect = OptionalLong.of(only);
            stage = failuresOfSuspect < TRIES ? Stage.SEARCHING : Stage.PROBING;
        }
    }

    /** Ends the search without a row to blame: cycles fail for another reason. */
    public void acquit() {
        stage = Stage.SEARCHING;
        suspect = OptionalLong.empty();
        failuresOfSuspect = 0;
    }
}
