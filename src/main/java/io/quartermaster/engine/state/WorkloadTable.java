package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Workloads by their ids, in the order of insertion. Two arrays hold the table, so that a copy costs only the copies of
 * the arrays. Every what-if question copies the table, also in a cell with a hundred thousand workloads.
 */
public final class WorkloadTable implements Iterable<Workload> {
    private static final int MIN_CAPACITY = 16;

    /** The workloads in order; null where one was removed. */
    private @Nullable Workload[] slots;

    /**
     * Slot numbers, counted from 1, at the hash of the id or after it; 0 is free. The array has twice as many places as
     * there are slots, so one place is always free.
     */
    private int[] places;

    private int end;
    private int size;

    WorkloadTable() {
        this(new Workload[MIN_CAPACITY], new int[2 * MIN_CAPACITY], 0, 0);
    }

    private WorkloadTable(@Nullable Workload[] slots, int[] places, int end, int size) {
        this.slots = slots;
        this.places = places;
        this.end = end;
        this.size = size;
    }

    WorkloadTable copy() {
        return new WorkloadTable(slots.clone(), places.clone(), end, size);
    }

    int size() {
        return size;
    }

    @Nullable
    public Workload get(WorkloadId id) {
        int slot = places[find(id)];
        return slot == 0 ? null : slots[slot - 1];
    }

    /** Replaces the workload with the same id, or appends a new one. Returns the replaced one. */
    @Nullable
    Workload put(Workload workload) {
        int place = find(workload.id());
        if (places[place] != 0) {
            Workload before = slots[places[place] - 1];
            slots[places[place] - 1] = workload;
            return before;
        }
        if (end == slots.length) {
            makeRoom();
            place = find(workload.id());
        }
        slots[end++] = workload;
        places[place] = end;
        size++;
        return null;
    }

    @Nullable
    public Workload remove(WorkloadId id) {
        int place = find(id);
        if (places[place] == 0) {
            return null;
        }
        int slot = places[place] - 1;
        Workload before = slots[slot];
        slots[slot] = null;
        size--;
        closeGap(place);
        return before;
    }

    /** The place of an id, or the free place where it would be. */
    private int find(WorkloadId id) {
        int place = home(id);
        while (places[place] != 0 && !idAt(place).equals(id)) {
            place = after(place);
        }
        return place;
    }

    private WorkloadId idAt(int place) {
        Workload workload = slots[places[place] - 1];
        if (workload == null) {
            throw new IllegalStateException("a place refers to an empty slot");
        }
        return workload.id();
    }

    private int home(WorkloadId id) {
        int hash = id.hashCode();
        return (hash ^ (hash >>> 16)) & (places.length - 1);
    }

    private int after(int place) {
        return (place + 1) & (places.length - 1);
    }

    /** Moves back entries that a search would no longer find behind the free place. */
    private void closeGap(int gap) {
        int mask = places.length - 1;
        int free = gap;
        for (int place = after(gap); places[place] != 0; place = after(place)) {
            int fromHome = (place - home(idAt(place))) & mask;
            if (fromHome >= ((place - free) & mask)) {
                places[free] = places[place];
                free = place;
            }
        }
        places[free] = 0;
    }

    /** Removes empty slots; doubles the arrays if few slots are empty. */
    private void makeRoom() {
        @Nullable Workload[] before = slots;
        int length = size > before.length / 2 ? before.length * 2 : before.length;
        slots = new Workload[length];
        places = new int[2 * length];
        end = 0;
        for (Workload workload : before) {
            if (workload != null) {
                int place = find(workload.id());
                slots[end++] = workload;
                places[place] = end;
            }
        }
    }

    /** Valid only while the table does not change. */
    @Override
    public Iterator<Workload> iterator() {
        return new Iterator<>() {
            private int next = filled(0);

            @Override
            public boolean hasNext() {
                return next < end;
            }

            @Override
            public Workload next() {
                Workload workload = next < end ? slots[next] : null;
                if (workload == null) {
                    throw new NoSuchElementException();
                }
                next = filled(next + 1);
                return workload;
            }
        };
    }

    /** The first occupied slot at or after a given one; the end if there is none. */
    private int filled(int from) {
        int slot = from;
        while (slot < end && slots[slot] == null) {
            slot++;
        }
        return slot;
    }
}
