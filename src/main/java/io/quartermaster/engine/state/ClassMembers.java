package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Workload;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The members of a scheduling class in their order. They are in an array with room at both ends. Taking the first and
 * adding the last or a new first is therefore cheap; any other change moves the shorter side.
 */
public final class ClassMembers extends AbstractList<Workload> {
    private static final int MIN_CAPACITY = 4;

    private @Nullable Workload[] elements = new Workload[MIN_CAPACITY];
    private int first;
    private int end;

    @Override
    public int size() {
        return end - first;
    }

    @Override
    public Workload get(int index) {
        Workload element = elements[first + index];
        if (element == null) {
            throw new IndexOutOfBoundsException(index);
        }
        return element;
    }

    /** An immutable copy of the current members. */
    List<Workload> copy() {
        return List.of(Arrays.copyOfRange(elements, first, end));
    }

    @Override
    public boolean add(Workload workload) {
        int size = size();
        int at = size == 0 || SchedulingClass.IN_GROUP.compare(get(size - 1), workload) < 0 ? size : before(workload);
        if (first > 0 && at < size / 2) {
            System.arraycopy(elements, first, elements, first - 1, at);
            first--;
        } else {
            if (end == elements.length) {
                makeRoomAtTheEnd();
            }
            System.arraycopy(elements, first + at, elements, first + at + 1, size - at);
            end++;
        }
        elements[first + at] = workload;
        return true;
    }

    /**
     * Moves all members to the front if much room is free there, so that the next move is that much later. Otherwise it
     * enlarges the array.
     */
    private void makeRoomAtTheEnd() {
        int size = size();
        @Nullable Workload[] roomy = first > elements.length / 4 ? elements : new Workload[elements.length * 3 / 2];
        System.arraycopy(elements, first, roomy, 0, size);
        if (roomy == elements) {
            Arrays.fill(elements, size, end, null);
        }
        elements = roomy;
        first = 0;
        end = size;
    }

    /** The number of members that precede a workload, which need not be a member. */
    public int before(Workload workload) {
        int at = search(workload);
        return at < 0 ? -at - 1 : at;
    }

    boolean contains(Workload workload) {
        return size() > 0 && search(workload) >= 0;
    }

    @Override
    public void clear() {
        if (size() > 0) {
            elements = new Workload[MIN_CAPACITY];
            first = 0;
            end = 0;
        }
    }

    boolean remove(Workload workload) {
        int at = size() > 0 && get(0) == workload ? 0 : search(workload);
        if (at < 0) {
            return false;
        }
        if (at < size() / 2) {
            System.arraycopy(elements, first, elements, first + 1, at);
            elements[first++] = null;
        } else {
            System.arraycopy(elements, first + at + 1, elements, first + at, size() - at - 1);
            elements[--end] = null;
        }
        return true;
    }

    /** The index of a workload, or, as in {@link Arrays#binarySearch}, where it would be. */
    private int search(Workload workload) {
        int low = 0;
        int high = size() - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            int order = SchedulingClass.IN_GROUP.compare(get(middle), workload);
            if (order == 0) {
                return middle;
            }
            low = order < 0 ? middle + 1 : low;
            high = order < 0 ? high : middle - 1;
        }
        return -low - 1;
    }
}
