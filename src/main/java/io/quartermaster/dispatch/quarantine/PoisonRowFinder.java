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
 * <p>Pending steps are the lifecycle steps that no inbox row names. Single-threaded.
 */
public final class PoisonRowFinder {

    /** The failures of a row alone until it is blamed, and of cycles with pending steps until these are skipped. */
    private static final int TRIES_UNTIL_BLAMED = 3;

    /** The rows that the next cycle takes from the inbox. */
    public sealed interface Selection {

        /** @param pendingSteps whether the cycle may also take lifecycle steps that no inbox row names */
        record Oldest(int limit, boolean pendingSteps) implements Selection {}

        /** Tests whether cycles succeed at all. */
        record None() implements Selection {}

        /** Tests whether the row fails again. */
        record Only(long id) implements Selection {}
    }

    private enum Stage {
        SEARCHING,
        PROBING,
        CONFIRMING
    }

    private final int batchSize;
    private Stage stage = Stage.SEARCHING;
    private int limit;
    private OptionalLong suspect = OptionalLong.empty();
    private int failuresOfSuspect;
    /**
     * The number of searches that began with pending steps, found no row to blame, and after which pending steps failed
     * again.
     */
    private int failuresOfPendingSteps;
    /** Whether the limit is low because cycles took too long. */
    private boolean slow;

    // The state of the current cycle.
    private Optional<List<Long>> readIds = Optional.empty();
    private boolean withPendingSteps;

    public PoisonRowFinder(int batch) {
        this.batchSize = batch;
        this.limit = batch;
    }

    /** The most cycles that fail in a row because of one row, if pending steps fail as well. */
    public static int maxSearchCycles(int batch) {
        int halvings = Integer.SIZE - Integer.numberOfLeadingZeros(batch);
        return halvings + 2 * TRIES_UNTIL_BLAMED;
    }

    /** Begins an epoch: pending steps are tried again. */
    public void beginTerm() {
        failuresOfPendingSteps = 0;
    }

    /**
     * Whether pending steps failed so often that cycles skip them, until the next epoch or until cycles without them
     * fail too.
     */
    public boolean skipsPendingSteps() {
        return failuresOfPendingSteps >= TRIES_UNTIL_BLAMED;
    }

    /**
     * The number of lifecycle steps that a retry of quarantine entries may take. It is at most that of the next cycle,
     * because that cycle proves that the cause is not elsewhere. Empty during a search for a row, which makes cycles
     * fail anyway.
     */
    public OptionalInt maxStepsOfRetry() {
        return stage == Stage.SEARCHING && (slow || limit == batchSize) ? OptionalInt.of(limit) : OptionalInt.empty();
    }

    /** Begins a cycle. */
    public Selection beginCycle() {
        readIds = Optional.empty();
        return switch (stage) {
            case SEARCHING -> new Selection.Oldest(limit, (slow || limit == batchSize) && !skipsPendingSteps());
            case PROBING -> new Selection.None();
            case CONFIRMING -> new Selection.Only(suspect.orElseThrow());
        };
    }

    /**
     * Records that the cycle has read these rows: a failure from now on may be theirs.
     *
     * @param pendingSteps whether the cycle also takes lifecycle steps that no row names
     */
    public void recordRead(List<Long> ids, boolean pendingSteps) {
        readIds = Optional.of(List.copyOf(ids));
        withPendingSteps = pendingSteps;
    }

    /** Whether the current cycle took rows at all: if not, no row can be the cause of its failure. */
    public boolean hasReadRows() {
        return readIds.isPresent() && !readIds.get().isEmpty();
    }

    public void recordSuccess() {
        switch (stage) {
            case SEARCHING, CONFIRMING -> {
                if (withPendingSteps) {
                    failuresOfPendingSteps = 0;
                }
                endSearch();
                limit = Math.clamp(limit * 2L, 1, batchSize);
                slow &= limit < batchSize;
            }
            case PROBING -> stage = Stage.CONFIRMING;
        }
    }

    /**
     * Records a failure. Returns the row to blame once that is certain; call {@link #recordQuarantined} when it is
     * quarantined.
     */
    public OptionalLong recordFailure() {
        if (readIds.isEmpty()) {
            // The earlier failures of a suspect may have had the same outage as their cause.
            recordInterruption();
            return OptionalLong.empty();
        }
        List<Long> ids = readIds.get();
        return switch (stage) {
            case SEARCHING -> {
                narrowSearch(ids);
                yield OptionalLong.empty();
            }
            case PROBING -> {
                failuresOfPendingSteps = 0;
                endSearch();
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
    public void recordInterruption() {
        stage = stage == Stage.CONFIRMING ? Stage.PROBING : stage;
    }

    /** Records a failure by a timeout. The cycle may have been too long, so the next one takes half as many rows. */
    public void recordTimeout() {
        if (stage == Stage.SEARCHING && readIds.isPresent()) {
            limit = Math.max(1, limit / 2);
            slow = limit < batchSize;
        }
        recordInterruption();
    }

    /** Records that the row was quarantined: the pending steps that failed with it may be sound. */
    public void recordQuarantined() {
        failuresOfPendingSteps = 0;
        endSearch();
    }

    private void narrowSearch(List<Long> ids) {
        // Until the limit reaches that of a full batch again, cycles skip pending steps: each search counts once.
        slow = false;
        if (withPendingSteps) {
            failuresOfPendingSteps++;
        } else if (ids.isEmpty()) {
            // The cause is neither in the rows nor in the pending steps.
            failuresOfPendingSteps = 0;
        }
        if (ids.size() > 1) {
            limit = Math.max(1, Math.min(limit, ids.size()) / 2);
        } else if (ids.size() == 1) {
            limit = 1;
            long only = ids.getFirst();
            failuresOfSuspect = suspect.equals(OptionalLong.of(only)) ? failuresOfSuspect + 1 : 1;
            suspect = OptionalLong.of(only);
            stage = failuresOfSuspect < TRIES_UNTIL_BLAMED ? Stage.SEARCHING : Stage.PROBING;
        }
    }

    /** Ends the search without a row to blame: cycles fail for another reason. */
    public void endSearch() {
        stage = Stage.SEARCHING;
        suspect = OptionalLong.empty();
        failuresOfSuspect = 0;
    }
}
