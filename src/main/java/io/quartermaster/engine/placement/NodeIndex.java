package io.quartermaster.engine.placement;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of a pool that take work, indexed by free capacity for one availability. One index sorts them by the number
 * of untouched GPUs and by the total free amount. Another sorts them by the free amount of each GPU that is shared in
 * parts. A search for whole GPUs or for a part of one visits only nodes that fit, best first.
 */
final class NodeIndex {
    private final Availability availability;
    private final boolean pack;
    private final List<NodeCapacity> nodes;
    private final List<NavigableMap<Long, NodeSet>> byUntouched = new ArrayList<>();
    private final Map<String, NavigableMap<Integer, NodeSet>> byPartLeft = new TreeMap<>();
    private final @Nullable Entry[] entries;
    private final NodeSet outdated = new NodeSet();
    private final Map<String, Long> leftInParts = new HashMap<>();
    private long freeGpuMilli;
    private long untouchedGpus;
    private long inPartsGpuMilli;
    private long wholeInParts;

    /** The keys under which a node is in the index. */
    private static final class Entry {
        private final NodeSet alike;
        private final int untouched;
        private final long freeGpuMilli;
        private final List<NodeCapacity.Part> parts;

        Entry(NodeSet alike, int untouched, long freeGpuMilli, List<NodeCapacity.Part> parts) {
            this.alike = alike;
            this.untouched = untouched;
            this.freeGpuMilli = freeGpuMilli;
            this.parts = parts;
        }
    }

    /**
     * @param pack whether the fullest node that fits is the best; otherwise the emptiest
     * @param nodes all nodes of the pool in the order of their ids, each at its position
     */
    NodeIndex(Availability availability, boolean pack, List<NodeCapacity> nodes) {
        this.availability = availability;
        this.pack = pack;
        this.nodes = nodes;
        this.entries = new Entry[nodes.size()];
        for (NodeCapacity node : nodes) {
            if (node.takesWork()) {
                add(node);
            }
        }
    }

    /** Marks a node whose free capacity may have changed; the next query updates it. */
    void markChanged(NodeCapacity node) {
        outdated.add(node.position());
    }

    /** Adds a node that takes work from now on. */
    void includeNode(NodeCapacity node) {
        add(node);
    }

    /** Undoes {@link #includeNode}. */
    void excludeNode(NodeCapacity node) {
        refreshOutdated();
        Entry entry = entries[node.position()];
        if (entry != null) {
            remove(node, entry);
            entries[node.position()] = null;
        }
    }

    private void refreshOutdated() {
        if (outdated.isEmpty()) {
            return;
        }
        for (int position = outdated.next(0); position >= 0; position = outdated.next(position + 1)) {
            outdated.remove(position);
            Entry entry = entries[position];
            if (entry != null) {
                refresh(nodes.get(position), entry);
            }
        }
    }

    private void refresh(NodeCapacity node, Entry entry) {
        boolean same = entry.freeGpuMilli == node.freeGpuMilli(availability)
                && entry.untouched == node.untouched(availability)
                && entry.parts.isEmpty()
                && !node.hasGpuInParts(availability);
        if (!same) {
            remove(node, entry);
            add(node);
        }
    }

    private void add(NodeCapacity node) {
        int untouched = node.untouched(availability);
        long free = node.freeGpuMilli(availability);
        while (byUntouched.size() <= untouched) {
            byUntouched.add(new TreeMap<>());
        }
        NodeSet alike = byUntouched.get(untouched).computeIfAbsent(free, amount -> new NodeSet());
        alike.add(node.position());
        List<NodeCapacity.Part> parts = List.of();
        if (node.hasGpuInParts(availability)) {
            parts = node.parts(availability);
            for (NodeCapacity.Part part : parts) {
                byPartLeft
                        .computeIfAbsent(part.tenant(), tenant -> new TreeMap<>())
                        .computeIfAbsent(part.leftGpuMilli(), left -> new NodeSet())
                        .add(node.position());
                countLeft(part.tenant(), part.leftGpuMilli());
            }
        }
        untouchedGpus += untouched;
        entries[node.position()] = new Entry(alike, untouched, free, parts);
        freeGpuMilli += free;
    }

    private void remove(NodeCapacity node, Entry entry) {
        entry.alike.remove(node.position());
        boolean noneInParts = entry.freeGpuMilli == (long) entry.untouched * GpuCapacity.WHOLE_GPU_MILLI;
        if (entry.alike.isEmpty() && !noneInParts) {
            byUntouched.get(entry.untouched).remove(entry.freeGpuMilli);
        }
        untouchedGpus -= entry.untouched;
        for (NodeCapacity.Part part : entry.parts) {
            countLeft(part.tenant(), -part.leftGpuMilli());
            NavigableMap<Integer, NodeSet> ofTenant = byPartLeft.getOrDefault(part.tenant(), new TreeMap<>());
            NodeSet same = ofTenant.get(part.leftGpuMilli());
            if (same != null) {
                same.remove(node.position());
                if (same.isEmpty()) {
                    ofTenant.remove(part.leftGpuMilli());
                }
            }
        }
        freeGpuMilli -= entry.freeGpuMilli;
    }

    private void countLeft(String tenant, long moreGpuMilli) {
        long before = leftInParts.getOrDefault(tenant, 0L);
        long after = before + moreGpuMilli;
        leftInParts.put(tenant, after);
        inPartsGpuMilli += moreGpuMilli;
        wholeInParts += after / GpuCapacity.WHOLE_GPU_MILLI - before / GpuCapacity.WHOLE_GPU_MILLI;
    }

    long untouchedGpus() {
        refreshOutdated();
        return untouchedGpus;
    }

    long freeGpuMilli() {
        refreshOutdated();
        return freeGpuMilli;
    }

    /**
     * Whether so many untouched GPUs, and so much capacity of GPUs in the tenant's parts, would be free if all work
     * were rearranged. Rearranging whole GPUs frees none. Bringing together the parts of one tenant can turn the free
     * capacity beside them into untouched GPUs.
     */
    boolean couldFitRearranged(long gpus, String tenant, long inPartsGpuMilli) {
        refreshOutdated();
        long leftOfTenant = leftInParts.getOrDefault(tenant, 0L);
        long wholeOfOthers = wholeInParts - leftOfTenant / GpuCapacity.WHOLE_GPU_MILLI;
        long wholeOfTenant = Math.floorDiv(leftOfTenant - inPartsGpuMilli, GpuCapacity.WHOLE_GPU_MILLI);
        return gpus <= untouchedGpus + wholeOfOthers + wholeOfTenant;
    }

    /** Whether all free capacity is in untouched GPUs, or in GPUs shared in parts that can take more. */
    boolean isAllOfUse() {
        refreshOutdated();
        return freeGpuMilli == untouchedGpus * GpuCapacity.WHOLE_GPU_MILLI + inPartsGpuMilli;
    }

    private List<NodeCapacity> all(NodeSet set) {
        List<NodeCapacity> found = new ArrayList<>();
        for (int position = set.next(0); position >= 0; position = set.next(position + 1)) {
            found.add(nodes.get(position));
        }
        return found;
    }

    /**
     * The nodes with a shared GPU that the tenant may join and that has at least the given amount free. They are
     * grouped by that free amount, the smallest first.
     */
    Iterable<List<NodeCapacity>> withPartLeft(String tenant, int gpuMilli) {
        refreshOutdated();
        NavigableMap<Integer, NodeSet> ofTenant = byPartLeft.get(tenant);
        return ofTenant == null
                ? List.of()
                : () -> ofTenant.tailMap(gpuMilli, true).values().stream()
                        .map(this::all)
                        .iterator();
    }

    /**
     * The first result of {@code evaluate} among the nodes with at least {@code count} untouched GPUs, the best node
     * first.
     */
    <T> @Nullable T first(int count, Function<NodeCapacity, @Nullable T> evaluate) {
        refreshOutdated();
        int counts = byUntouched.size();
        for (int i = count; i < counts; i++) {
            NavigableMap<Long, NodeSet> byFree = byUntouched.get(pack ? i : counts - 1 - (i - count));
            for (NodeSet alike : (pack ? byFree : byFree.descendingMap()).values()) {
                for (int position = alike.next(0); position >= 0; position = alike.next(position + 1)) {
                    T made = evaluate.apply(nodes.get(position));
                    if (made != null) {
                        return made;
                    }
                }
            }
        }
        return null;
    }
}
