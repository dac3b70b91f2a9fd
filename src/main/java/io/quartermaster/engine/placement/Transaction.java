package io.quartermaster.engine.placement;

import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.List;

/**
 * A what-if on the projected bookings. It keeps a journal of its steps and undoes them in reverse order, so no search
 * restores a booking by hand. Transactions may be nested: the inner one must be rolled back before the next step of the
 * outer one. A transaction is never committed, because decisions are booked with the workload that they concern. Its
 * steps free no capacity for other work: no cached miss of a {@link RequestSignature} is discarded.
 */
public final class Transaction {
    private final Cluster cluster;
    private final List<Step> journal = new ArrayList<>();

    /** The kind of a step, which decides how to undo it. */
    private enum Kind {
        BOOKED,
        RELEASED,
        BOOKED_IN_TREES,
        RELEASED_IN_TREES,
        BOOKED_ON_DEVICES,
        RELEASED_ON_DEVICES
    }

    private record Step(Kind kind, Booking booking) {}

    Transaction(Cluster cluster) {
        this.cluster = cluster;
    }

    /** Books on devices and in the quota trees. */
    public void book(Booking booking) {
        cluster.book(booking);
        journal.add(new Step(Kind.BOOKED, booking));
    }

    /** Releases a booking on its devices and in the quota trees. */
    public void release(Booking booking) {
        cluster.release(booking);
        journal.add(new Step(Kind.RELEASED, booking));
    }

    /** Books in the quota trees only, to see how quotas would decide. */
    public void bookInTrees(Booking booking) {
        cluster.addToTrees(booking, UsageView.PROJECTED);
        journal.add(new Step(Kind.BOOKED_IN_TREES, booking));
    }

    /** Releases a booking in the quota trees only. */
    public void releaseInTrees(Booking booking) {
        cluster.removeFromTrees(booking, UsageView.PROJECTED);
        journal.add(new Step(Kind.RELEASED_IN_TREES, booking));
    }

    /** Books on devices only, to see what would fit. */
    public void bookOnDevices(Booking booking) {
        cluster.bookOnDevices(booking);
        journal.add(new Step(Kind.BOOKED_ON_DEVICES, booking));
    }

    /** Releases a booking on its devices only. */
    public void releaseOnDevices(Booking booking) {
        cluster.releaseOnDevices(booking);
        journal.add(new Step(Kind.RELEASED_ON_DEVICES, booking));
    }

    /** The current end of the journal, for {@link #rollbackTo}. */
    public int checkpoint() {
        return journal.size();
    }

    /** Undoes all steps since a checkpoint, the last one first. */
    public void rollbackTo(int checkpoint) {
        while (journal.size() > checkpoint) {
            undo(journal.removeLast());
        }
    }

    /** Undoes all steps. */
    public void rollback() {
        rollbackTo(0);
    }

    private void undo(Step step) {
        Booking booking = step.booking();
        switch (step.kind()) {
            case BOOKED -> cluster.release(booking);
            case RELEASED -> cluster.book(booking);
            case BOOKED_IN_TREES -> cluster.removeFromTrees(booking, UsageView.PROJECTED);
            case RELEASED_IN_TREES -> cluster.addToTrees(booking, UsageView.PROJECTED);
            case BOOKED_ON_DEVICES -> cluster.releaseOnDevices(booking);
            case RELEASED_ON_DEVICES -> cluster.bookOnDevices(booking);
        }
    }
}
