package io.quartermaster.governance.rules;

import java.util.OptionalInt;

/**
 * The values that submissions under a policy may state. The rights bind every submitter, including tenant admins and
 * operators: only a policy decides which work may go before other work.
 *
 * @param maxPriority the highest priority; absent = the default of the workload's type
 * @param nonPreemptible whether work may be non-preemptible, by its own field or by its type
 */
public record SubmissionRights(OptionalInt maxPriority, boolean nonPreemptible) {

    public static final int HIGHEST_PRIORITY = 1_000;

    /** The lowest default priority of the types of work; {@link #HIGHEST_TYPE_DEFAULT} is the highest. */
    public static final int LOWEST_TYPE_DEFAULT = 50;

    public static final int HIGHEST_TYPE_DEFAULT = 125;

    public static final SubmissionRights DEFAULT = new SubmissionRights(OptionalInt.empty(), false);

    public SubmissionRights {
        if (maxPriority.isPresent() && (maxPriority.getAsInt() < 0 || maxPriority.getAsInt() > HIGHEST_PRIORITY)) {
            throw new IllegalArgumentException("priorities are 0 to " + HIGHEST_PRIORITY + ": " + maxPriority);
        }
    }

    /** The highest priority that work of a type may have. */
    public int maxPriority(int typeDefault) {
        return maxPriority.orElse(typeDefault);
    }

    /** The priority of work that states none: the default of its type, but not above the highest. */
    public int defaultPriority(int typeDefault) {
        return Math.min(typeDefault, maxPriority(typeDefault));
    }

    /** Whether the others permit everything that these permit, for each type of work. */
    boolean areWithin(SubmissionRights others) {
        boolean priority = maxPriority.isEmpty() && others.maxPriority.isEmpty()
                || maxPriority.orElse(HIGHEST_TYPE_DEFAULT) <= others.maxPriority.orElse(LOWEST_TYPE_DEFAULT);
        return priority && (others.nonPreemptible || !nonPreemptible);
    }

    /** Whether they permit everything, as every policy did before the rights existed. */
    public boolean areUnbounded() {
        return nonPreemptible && maxPriority.isPresent() && maxPriority.getAsInt() == HIGHEST_PRIORITY;
    }
}
