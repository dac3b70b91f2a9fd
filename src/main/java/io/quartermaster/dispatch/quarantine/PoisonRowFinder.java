package io.quartermaster.dispatch.quarantine;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * Finds the inbox row that makes cycles fail, from nothing but which cycles failed: each failure halves the batch, each success doubles
 * it. A row that failed three times alone is suspected. A cycle without any row must succeed then, which clears the database and the
 * engine; and the next, with exactly that row, must fail once more: only then is it to blame.
 *
 * <p>Only failures after the rows of a cycle were read count. A database that is away fails before that, so its absence alone never
 * blames a row; and one that comes back in the middle lets the innocent row pass when it is tried again.
 *
 * <p>One thread.
 */
public final class PoisonRowFinder {

    /** Failures of a row alone until it is suspected; and of cycles with leftovers, until these are left alone. */
    private static final int TRIES = 3;

    /** What the next cycle is to take from the inbox. */
    public sealed interface Take {

        /** @param leftovers whether steps that nothing in the inbox names may be taken too */
        record Oldest(int limit, boolean leftovers) implements Take {}

        /** To see whether cycles succeed at all. */
        record Nothing() implements Take {}

        /** To see whether it fails again. */
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
    /** Searches that began with leftovers, that ended without a row to blame, and after which leftovers did not go well. */
    private int failuresOfLeftovers;
    /** Whether the limit is low because turns took too long. */
    private boolean slow;

    // Of the cycle that is under way.
    private Optional<List<Long>> taken = Optional.empty();
    private boolean withLeftovers;

    public PoisonRowFinder(int batch) {
        this.batch = batch;
        this.limit = batch;
    }

    /** The most cycles that fail one after the other because of one row, with leftovers that fail as well. */
    public static int longestSearch(int batch) {
        int halvings = Integer.SIZE - Integer.numberOfLeadingZeros(batch);
        return halvings + 2 * TRIES;
    }

    /** A new epoch: what is left over deserves another try. */
    public void lead() {
        failuresOfLeftovers = 0;
    }

    /** Whether leftovers failed so often that cycles go without them until the next epoch, or until nothing else goes well either. */
    public boolean leavesLeftovers() {
        return failuresOfLeftovers >= TRIES;
    }

    /**
     * The steps that a try of entries of the quarantine may take: not more than the next cycle takes, for that is the proof that the cause is not
     * elsewhere. Empty while a row is searched for: cycles fail because of it then.
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
     * The cycle has read these rows: what fails from now on may be theirs.
     *
     * @param leftovers whether it takes steps, too, that no row names
     */
    public void took(List<Long> ids, boolean leftovers) {
        taken = Optional.of(List.copyOf(ids));
        withLeftovers = leftovers;
    }

    /** Whether the cycle under way has taken rows at all: if not, none of them can be why it fails. */
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

    /** The row that is to blame, when that is certain now; {@link #succeeded} once it is set aside. */
    public OptionalLong failed() {
        if (taken.isEmpty()) {
            // What was seen of a suspect so far may have been the same outage.
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
                // Should it not be possible to set it aside, the database has failed as well: that proves nothing.
                stage = Stage.PROBING;
                yield ids.isEmpty() ? OptionalLong.empty() : suspect;
            }
        };
    }

    /** The cycle failed because of something that passes by itself: that proves nothing. */
    public void interrupted() {
        stage = stage == Stage.CONFIRMING ? Stage.PROBING : stage;
    }

    /** The cycle failed because of something that passes by itself; perhaps it took too long, so the next one takes half of it. */
    public void timedOut() {
        if (stage == Stage.SEARCHING && taken.isPresent()) {
            limit = Math.max(1, limit / 2);
            slow = limit < batch;
        }
        interrupted();
    }

    /** The row was set aside: the leftovers that failed with it may be well. */
    public void wasSetAside() {
        failuresOfLeftovers = 0;
        acquit();
    }

    private void search(List<Long> ids) {
        // Until the limit is that of the batch again, cycles go without leftovers: so each search counts once.
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

    /** No row is to blame: cycles fail for another reason. */
    public void acquit() {
        stage = Stage.SEARCHING;
        suspect = OptionalLong.empty();
        failuresOfSuspect = 0;
    }
}
