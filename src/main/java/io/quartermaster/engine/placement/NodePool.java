package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.WorkerSlice;
import io.quartermaster.engine.model.WorkloadMix;
import io.quartermaster.engine.quota.UsageView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The capacity of a pool of nodes. */
public final class NodePool implements PoolCapacity {
    private static final int WHOLE_POOL = -1;

    private final Pool pool;
    private final OptionalLong maxGpuMilli;
    private final Map<NodeId, NodeCapacity> byId = new HashMap<>();
    private final List<NodeCapacity> byPosition = new ArrayList<>();
    private final List<Node> known = new ArrayList<>();
    private final NodeSelector choice;
    private final List<NodeCapacity> lost = new ArrayList<>();
    private final List<RequestSignature> signatures = new ArrayList<>();
    private final boolean hasClosedNodes;
    private final boolean hasNodesOfOneTenant;
    private @Nullable NodePool empty;
    private @Nullable NodePool emptyIfOpen;
    private @Nullable NodePool emptyOpen;
    private @Nullable SortedSet<Long> deviceSizes;
    private long upGpuMilli;
    private long elsewhereNowGpuMilli;
    private long elsewhereNextGpuMilli;
    private final ReservedRoom reserved = new ReservedRoom();

    NodePool(Pool pool, Pool.Capacity.Nodes capacity, Collection<Node> nodes) {
        this.pool = pool;
        this.maxGpuMilli = capacity.maxGpuMilli();
        SortedMap<NodeId, Node> inOrder = new TreeMap<>();
        nodes.forEach(node -> inOrder.put(node.id(), node));
        for (Node node : inOrder.values()) {
            NodeCapacity space = new NodeCapacity(node, byPosition.size(), pool.sharing());
            byId.put(node.id(), space);
            this.byPosition.add(space);
            this.known.add(node);
            if (node.up()) {
                upGpuMilli += node.devices().size() * 1000L;
            } else {
                lost.add(space);
            }
        }
        hasNodesOfOneTenant = known.stream().anyMatch(node -> node.onlyTenant().isPresent());
        hasClosedNodes = hasNodesOfOneTenant || known.stream().anyMatch(node -> !node.schedulable());
        choice = new NodeSelector(pool, byPosition);
    }

    @Override
    public Pool pool() {
        return pool;
    }

    @Override
    public long capacityGpuMilli() {
        return pool.hasExecutor() ? Math.min(upGpuMilli, maxGpuMilli.orElse(Long.MAX_VALUE)) : 0;
    }

    @Override
    public long heldBeyondCapacityGpuMilli(UsageView view) {
        boolean bounded = maxGpuMilli.isPresent() || !pool.hasExecutor();
        Collection<NodeCapacity> concerned = bounded ? byPosition : lost;
        long beyond = view == UsageView.CURRENT ? elsewhereNowGpuMilli : elsewhereNextGpuMilli;
        long onNodes = heldGpuMilli(
                concerned, view == UsageView.CURRENT ? Availability.IGNORING_NOMINATIONS : Availability.AFTER_RELEASES);
        return beyond + (bounded ? Math.max(0, onNodes - capacityGpuMilli()) : onNodes);
    }

    private static long heldGpuMilli(Collection<NodeCapacity> nodes, Availability availability) {
        long held = 0;
        for (NodeCapacity node : nodes) {
            held += node.devices().size() * 1000L - node.freeGpuMilli(availability);
        }
        return held;
    }

    @Override
    public long freeGpuMilli(Availability availability) {
        long free = choice.freeGpuMilli(availability);
        if (maxGpuMilli.isEmpty()) {
            return free;
        }
        return Math.max(0, Math.min(free, maxGpuMilli.getAsLong() - heldGpuMilli(byPosition, availability)));
    }

    @Override
    public long untouchedGpus(Availability availability) {
        return Math.min(choice.untouchedGpus(availability), freeGpuMilli(availability) / GpuCapacity.WHOLE_GPU_MILLI);
    }

    @Override
    public Optional<String> unmetNeed(PlacementRequest placementRequest) {
        return new ShapeFit(pool, known).unmetNeed(placementRequest);
    }

    @Override
    public long freeGpuMilli(NodeId node, Availability availability) {
        NodeCapacity space = byId.get(node);
        return space == null || !space.takesWork()
                ? 0
                : Math.min(space.freeGpuMilli(availability), freeGpuMilli(availability));
    }

    @Override
    public List<FreeDevices> freeDevices() {
        List<FreeDevices> all = new ArrayList<>(byPosition.size());
        for (NodeCapacity node : byPosition) {
            if (node.takesWork()) {
                all.add(freeDevices(node));
            }
        }
        return all;
    }

    @Override
    public Optional<FreeDevices> freeDevices(NodeId node) {
        return Optional.ofNullable(byId.get(node))
                .filter(NodeCapacity::takesWork)
                .map(NodePool::freeDevices);
    }

    private static FreeDevices freeDevices(NodeCapacity node) {
        return new FreeDevices(
                node.node(),
                node.left(Availability.AFTER_RELEASES),
                node.freeCpuMilli(Availability.AFTER_RELEASES),
                node.freeMemoryMiB());
    }

    @Override
    public boolean isSharedBeside(NodeId node, int device, String tenant) {
        NodeCapacity space = byId.get(node);
        return space != null && space.isSharedBeside(device, tenant, Availability.AFTER_RELEASES);
    }

    @Override
    public long gpuMilliOf(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> whole.count() * 1000L;
            case GpuRequest.Fraction fraction -> (long) fraction.devices() * fraction.gpuMilliEach();
            case GpuRequest.Memory memory -> memory.devices() * (long) partOfSmallest(memory.memoryMiBEach());
            case GpuRequest.Mig mig -> mig.computeSlices() * 1000L / 7;
        };
    }

    private int partOfSmallest(long memoryMiB) {
        SortedSet<Long> largeEnough = deviceSizes().tailSet(memoryMiB);
        return largeEnough.isEmpty() ? GpuCapacity.WHOLE_GPU_MILLI : GpuCapacity.partOf(memoryMiB, largeEnough.first());
    }

    private SortedSet<Long> deviceSizes() {
        SortedSet<Long> sizes = deviceSizes;
        if (sizes == null) {
            sizes = new TreeSet<>();
            for (Node node : known) {
                for (Node.Device device : node.devices()) {
                    sizes.add(device.memoryMiB());
                }
            }
            deviceSizes = sizes;
        }
        return sizes;
    }

    @Override
    public Optional<Allocation> place(PlacementRequest placementRequest, Availability availability) {
        return placementRequest.shape().isPlain()
                ? placeSet(placementRequest, availability)
                : placeSets(placementRequest, availability);
    }

    /** Places each worker set in its own topology, and all sets inside one domain if the shape requires it. */
    private Optional<Allocation> placeSets(PlacementRequest placementRequest, Availability availability) {
        Optional<Integer> together = level(placementRequest.shape().together());
        if (together.isEmpty()) {
            return Optional.empty();
        }
        List<PlacementRequest> largestFirst = new ArrayList<>(placementRequest.sets());
        largestFirst.sort(Comparator.comparingLong((PlacementRequest set) -> -gpuMilliOf(set.gpus()))
                .thenComparing(set -> set.numbers().getFirst()));
        List<List<NodeCapacity>> domains =
                together.get() == WHOLE_POOL ? List.of(byPosition) : domains(byPosition, together.get(), availability);
        for (List<NodeCapacity> domain : domains) {
            Set<NodeId> inside = new HashSet<>();
            domain.forEach(node -> inside.add(node.node().id()));
            Optional<Allocation> place = placeSets(
                    largestFirst.stream()
                            .map(set -> set.within(node -> inside.contains(node.id())))
                            .toList(),
                    availability);
            if (place.isPresent() && withinCap(place.get().gpuMilli(), availability)) {
                return place;
            }
        }
        return Optional.empty();
    }

    /**
     * Places one set after the other, those with the most GPUs per worker first. The best place for one set may leave
     * no room for another; that set then goes before all others. The number of tries is at most the number of ordered
     * pairs of sets.
     */
    private Optional<Allocation> placeSets(List<PlacementRequest> largestFirst, Availability availability) {
        List<PlacementRequest> order = new ArrayList<>(largestFirst);
        int mostTries = Math.max(1, order.size() * (order.size() - 1));
        for (int tries = 0; tries < mostTries; tries++) {
            List<PlacementRequest> tried = new ArrayList<>();
            Optional<Allocation> place = placeInSequence(order, availability, set -> {
                tried.add(set);
                return placeSet(set, availability);
            });
            PlacementRequest last = tried.getLast();
            if (place.isPresent() || last == order.getFirst()) {
                return place;
            }
            order.remove(last);
            order.addFirst(last);
        }
        return Optional.empty();
    }

    private Optional<Allocation> placeSet(PlacementRequest placementRequest, Availability availability) {
        Optional<Integer> required = level(placementRequest.shape().requiredLevel());
        if (required.isEmpty()
                || level(placementRequest.shape().slice().map(WorkerSlice::level))
                        .isEmpty()) {
            return Optional.empty();
        }
        int narrowest = Math.max(
                required.get(), level(placementRequest.shape().preferredLevel()).orElse(WHOLE_POOL));
        for (int level = narrowest; level >= required.get(); level--) {
            Optional<Allocation> place = placeInOneDomain(placementRequest, level, availability);
            if (place.isPresent() && withinCap(place.get().gpuMilli(), availability)) {
                return place;
            }
        }
        return Optional.empty();
    }

    private boolean withinCap(long gpuMilli, Availability availability) {
        return maxGpuMilli.isEmpty() || gpuMilli <= freeGpuMilli(availability);
    }

    /** The index of a level; the whole pool if no level is named. Empty if the pool has no such level. */
    private Optional<Integer> level(Optional<String> name) {
        if (name.isEmpty()) {
            return Optional.of(WHOLE_POOL);
        }
        int index = pool.topologyLevels().indexOf(name.get());
        return index < 0 ? Optional.empty() : Optional.of(index);
    }

    private Optional<Allocation> placeInOneDomain(
            PlacementRequest placementRequest, int level, Availability availability) {
        if (placementRequest.shape().slice().isPresent()) {
            return placeSlices(
                    placementRequest, placementRequest.shape().slice().get(), level, availability);
        }
        if (level == WHOLE_POOL) {
            return placeEach(placementRequest, availability, () -> choice.bestInPool(placementRequest, availability));
        }
        for (List<NodeCapacity> domain : domains(byPosition, level, availability)) {
            Optional<Allocation> place = placeEach(
                    placementRequest, availability, () -> choice.bestOf(domain, placementRequest, availability));
            if (place.isPresent()) {
                return place;
            }
        }
        return Optional.empty();
    }

    /** Places all slices inside one domain of a level, and each slice inside one domain of its own level. */
    private Optional<Allocation> placeSlices(
            PlacementRequest placementRequest, WorkerSlice workerSlice, int level, Availability availability) {
        int ofSlice = level(Optional.of(workerSlice.level())).orElse(WHOLE_POOL);
        List<List<NodeCapacity>> domains =
                level == WHOLE_POOL ? List.of(byPosition) : domains(byPosition, level, availability);
        for (List<NodeCapacity> domain : domains) {
            Optional<Allocation> place = placeSlices(placementRequest.slices(), domain, ofSlice, availability);
            if (place.isPresent()) {
                return place;
            }
        }
        return Optional.empty();
    }

    /**
     * Places slice by slice, each in the first domain that has room for it. All slices are alike, and the room of one
     * domain does not depend on another. Therefore this finds a place for all slices whenever there is one.
     */
    private Optional<Allocation> placeSlices(
            List<PlacementRequest> slices, List<NodeCapacity> nodes, int level, Availability availability) {
        return placeInSequence(
                slices, availability, slice -> placeSlice(slice, domains(nodes, level, availability), availability));
    }

    /** Places one request after the other, all or none. */
    private Optional<Allocation> placeInSequence(
            List<PlacementRequest> placementRequests,
            Availability availability,
            Function<PlacementRequest, Optional<Allocation>> placing) {
        List<Booking> tentative = new ArrayList<>(placementRequests.size());
        Optional<Allocation> all = Optional.of(new Allocation(pool.id(), List.of()));
        for (PlacementRequest placementRequest : placementRequests) {
            Optional<Allocation> place = placing.apply(placementRequest);
            if (place.isEmpty()) {
                all = Optional.empty();
                break;
            }
            Booking booking = placementRequest.booking(place.get());
            addOnTrial(booking, availability);
            tentative.add(booking);
            all = all.map(before -> before.with(place.get()));
        }
        tentative.forEach(booking -> takeBackFrom(booking, availability));
        return all;
    }

    /** Books in the views that an availability depends on, so that the next worker sees what this one takes. */
    private void addOnTrial(Booking booking, Availability availability) {
        if (availability != Availability.IGNORING_NOMINATIONS) {
            add(booking, UsageView.PROJECTED);
        }
        if (availability != Availability.AFTER_RELEASES) {
            add(booking, UsageView.CURRENT);
        }
    }

    /** Undoes {@link #addOnTrial}. */
    private void takeBackFrom(Booking booking, Availability availability) {
        if (availability != Availability.AFTER_RELEASES) {
            takeBack(booking, UsageView.CURRENT);
        }
        if (availability != Availability.IGNORING_NOMINATIONS) {
            takeBack(booking, UsageView.PROJECTED);
        }
    }

    private Optional<Allocation> placeSlice(
            PlacementRequest slice, List<List<NodeCapacity>> domains, Availability availability) {
        for (List<NodeCapacity> domain : domains) {
            Optional<Allocation> place =
                    placeEach(slice, availability, () -> choice.bestOf(domain, slice, availability));
            if (place.isPresent()) {
                return place;
            }
        }
        return Optional.empty();
    }

    /** The nodes grouped by domain. The tightest domain is first if the pool packs, the emptiest if it spreads. */
    private List<List<NodeCapacity>> domains(List<NodeCapacity> nodes, int level, Availability availability) {
        SortedMap<String, List<NodeCapacity>> byPath = new TreeMap<>();
        for (NodeCapacity node : nodes) {
            List<String> topology = node.node().topology();
            if (topology.size() > level) {
                String path = String.join("/", topology.subList(0, level + 1));
                byPath.computeIfAbsent(path, key -> new ArrayList<>()).add(node);
            }
        }
        List<List<NodeCapacity>> domains = new ArrayList<>(byPath.values());
        Comparator<List<NodeCapacity>> byFree = Comparator.comparingLong(domain -> freeOf(domain, availability));
        // The sort is stable: domains with equal room stay in order of their path.
        domains.sort(pool.placement() == Pool.Placement.PACK ? byFree : byFree.reversed());
        return domains;
    }

    private static long freeOf(List<NodeCapacity> domain, Availability availability) {
        long free = 0;
        for (NodeCapacity node : domain) {
            free += freeToTakeWork(node, availability);
        }
        return free;
    }

    private static long freeToTakeWork(NodeCapacity node, Availability availability) {
        return node.takesWork() ? node.freeGpuMilli(availability) : 0;
    }

    /**
     * Places worker by worker, each at its best place. All workers are alike, and the room of one node does not depend
     * on another. Therefore this finds a place for all workers whenever there is one.
     */
    private Optional<Allocation> placeEach(
            PlacementRequest placementRequest, Availability availability, Supplier<Optional<PlacementScore>> findBest) {
        List<Allocation.Worker> workers = new ArrayList<>(placementRequest.workers());
        List<Booking> tentative = new ArrayList<>(placementRequest.workers());
        for (int number : placementRequest.numbers()) {
            Optional<PlacementScore> best = findBest.get();
            if (best.isEmpty()) {
                break;
            }
            Allocation.Worker worker = new Allocation.Worker(number, best.get().place());
            workers.add(worker);
            if (placementRequest.workers() > 1) {
                Booking booking = placementRequest.booking(new Allocation(pool.id(), List.of(worker)));
                addOnTrial(booking, availability);
                tentative.add(booking);
            }
        }
        tentative.forEach(booking -> takeBackFrom(booking, availability));
        return workers.size() == placementRequest.workers()
                ? Optional.of(new Allocation(pool.id(), workers))
                : Optional.empty();
    }

    @Override
    public boolean couldFitRearranged(PlacementRequest placementRequest) {
        if (freeGpuMilli(Availability.AFTER_RELEASES) < placementRequest.leastGpuMilli()) {
            return false;
        }
        // If the sizes of the GPUs differ, a share of memory is a different part of each.
        boolean partsStayTheSame = deviceSizes().size() <= 1;
        return !partsStayTheSame
                || !placementRequest.shape().isPlain()
                || choice.couldFitRearranged(placementRequest, Availability.AFTER_RELEASES);
    }

    @Override
    public List<SortedSet<NodeId>> candidateDomains(PlacementRequest placementRequest) {
        Optional<String> levelName = placementRequest
                .shape()
                .together()
                .or(() -> placementRequest.shape().requiredLevel())
                .or(() -> placementRequest.shape().preferredLevel())
                .or(() -> placementRequest.shape().slice().map(WorkerSlice::level));
        int level = level(levelName).orElse(WHOLE_POOL);
        if (placementRequest.workers() == 1) {
            return singleNodes(placementRequest.within());
        }
        List<List<NodeCapacity>> domains =
                level == WHOLE_POOL ? List.of() : domains(byPosition, level, Availability.AFTER_RELEASES);
        List<List<NodeCapacity>> emptiestFirst = new ArrayList<>(domains);
        emptiestFirst.sort(
                Comparator.comparingLong((List<NodeCapacity> domain) -> freeOf(domain, Availability.AFTER_RELEASES))
                        .reversed());
        List<SortedSet<NodeId>> areas = new ArrayList<>(emptiestFirst.size());
        for (List<NodeCapacity> domain : emptiestFirst) {
            SortedSet<NodeId> area = new TreeSet<>();
            domain.forEach(node -> area.add(node.node().id()));
            areas.add(area);
        }
        return areas;
    }

    private List<SortedSet<NodeId>> singleNodes(Predicate<Node> within) {
        List<NodeCapacity> nodes = new ArrayList<>(byPosition.size());
        for (NodeCapacity node : byPosition) {
            if (within.test(node.node())) {
                nodes.add(node);
            }
        }
        nodes.sort(Comparator.comparingLong((NodeCapacity node) -> -freeToTakeWork(node, Availability.AFTER_RELEASES)));
        List<SortedSet<NodeId>> areas = new ArrayList<>(nodes.size());
        nodes.forEach(node -> areas.add(node.alone()));
        return areas;
    }

    @Override
    public Optional<Lack> lackingLeast(PlacementRequest placementRequest, Availability availability) {
        if (!placementRequest.shape().isPlain() || placementRequest.workers() != 1) {
            return Optional.empty();
        }
        Optional<Lack> least = Optional.empty();
        for (NodeCapacity node : byPosition) {
            if (node.takesWork() && NodeSelector.suits(node, placementRequest)) {
                int needed = devices(placementRequest.gpus());
                int missing = placementRequest.gpus() instanceof GpuRequest.Whole
                        ? Math.max(0, needed - node.untouched(availability))
                        : needed;
                boolean possible = node.devices().size() >= needed;
                if (possible && (least.isEmpty() || missing < least.get().gpus())) {
                    least = Optional.of(new Lack(node.node().id(), missing));
                }
            }
        }
        return least;
    }

    private static int devices(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> whole.count();
            case GpuRequest.Fraction fraction -> fraction.devices();
            case GpuRequest.Memory memory -> memory.devices();
            case GpuRequest.Mig mig -> 1;
        };
    }

    @Override
    public long unusableGpuMilli(WorkloadMix workloadMix) {
        return new Fragmentation(workloadMix, byPosition).unusableGpuMilli(byPosition);
    }

    @Override
    public boolean couldEverFit(PlacementRequest placementRequest) {
        if (placementRequest.gpuMilli(this) > maxGpuMilli.orElse(Long.MAX_VALUE)) {
            return false;
        }
        NodePool all = empty;
        if (all == null) {
            all = empty(node -> true, node -> node.upAndSchedulable().open());
            empty = all;
        }
        return all.place(placementRequest, Availability.NOW).isPresent();
    }

    @Override
    public boolean fitsOnceEmpty(PlacementRequest placementRequest) {
        return placementRequest.gpuMilli(this) <= maxGpuMilli.orElse(Long.MAX_VALUE)
                && emptyOpen().place(placementRequest, Availability.NOW).isPresent();
    }

    /** A copy of the pool with only the nodes that take work, and with no bookings. */
    private NodePool emptyOpen() {
        NodePool open = emptyOpen;
        if (open == null) {
            open = empty(node -> node.up() && node.schedulable(), node -> node);
            emptyOpen = open;
        }
        return open;
    }

    /** A copy of the pool with some of its nodes and with no bookings. */
    private NodePool empty(Predicate<Node> some, UnaryOperator<Node> change) {
        return new NodePool(
                pool,
                new Pool.Capacity.Nodes(maxGpuMilli),
                known.stream().filter(some).map(change).toList());
    }

    @Override
    public boolean hasClosedNodes() {
        return hasClosedNodes;
    }

    @Override
    public boolean hasNodesOfOneTenant() {
        return hasNodesOfOneTenant;
    }

    @Override
    public boolean isOnlyForClosedNodes(PlacementRequest placementRequest) {
        if (!hasClosedNodes) {
            return false;
        }
        NodePool ifOpen = emptyIfOpen;
        if (ifOpen == null) {
            ifOpen = empty(node -> node.up() || !node.schedulable(), node -> node.upAndSchedulable()
                    .open());
            emptyIfOpen = ifOpen;
        }
        return emptyOpen().place(placementRequest, Availability.NOW).isEmpty()
                && ifOpen.place(placementRequest, Availability.NOW).isPresent();
    }

    @Override
    public boolean wouldFitIfNodesWereOpen(PlacementRequest placementRequest) {
        if (!hasClosedNodes) {
            return false;
        }
        choice.openAll();
        boolean fits = place(placementRequest, Availability.NOW).isPresent();
        choice.closeAgain();
        return fits;
    }

    @Override
    public boolean fits(Booking booking, Availability availability) {
        List<Booking> tentative = new ArrayList<>();
        boolean fits = withinCap(booking.gpuMilli(), availability);
        for (Allocation.Worker worker : booking.allocation().workers()) {
            NodeCapacity node = onNode(worker);
            if (!fits
                    || node == null
                    || !node.takesWorkOf(booking.tenant())
                    || !node.fits((Allocation.Place.OnNode) worker.place(), booking.ofWorker(worker), availability)) {
                fits = false;
                break;
            }
            Booking one = booking.at(new Allocation(pool.id(), List.of(worker)));
            addOnTrial(one, availability);
            tentative.add(one);
        }
        tentative.forEach(one -> takeBackFrom(one, availability));
        return fits;
    }

    @Override
    public Optional<Booking> freePart(Booking booking, Availability availability) {
        List<Allocation.Worker> workers = new ArrayList<>();
        List<Booking> tentative = new ArrayList<>();
        for (Allocation.Worker worker : booking.allocation().workers()) {
            NodeCapacity node = onNode(worker);
            if (node != null && node.takesWork() && worker.place() instanceof Allocation.Place.OnNode place) {
                node.freePart(place, booking.ofWorker(worker), availability).ifPresent(part -> {
                    Allocation.Worker held = new Allocation.Worker(worker.number(), part);
                    Booking one = booking.at(new Allocation(pool.id(), List.of(held)));
                    addOnTrial(one, availability);
                    tentative.add(one);
                    workers.add(held);
                });
            }
        }
        tentative.reversed().forEach(one -> takeBackFrom(one, availability));
        return workers.isEmpty() ? Optional.empty() : Optional.of(booking.at(new Allocation(pool.id(), workers)));
    }

    @Override
    public boolean isFreeOfReservations() {
        return reserved.isEmpty();
    }

    @Override
    public long reservationVersion() {
        return reserved.version();
    }

    @Override
    public void recordReservationChange() {
        reserved.recordChange();
    }

    @Override
    public void reserve(Booking booking) {
        reserved.hold();
        add(booking, UsageView.PROJECTED);
    }

    @Override
    public void unreserve(Booking booking) {
        reserved.release();
        takeBack(booking, UsageView.PROJECTED);
    }

    @Override
    public void register(RequestSignature requestSignature) {
        signatures.add(requestSignature);
    }

    @Override
    public void add(Booking booking, UsageView view) {
        for (Allocation.Worker worker : booking.allocation().workers()) {
            NodeCapacity node = onNode(worker);
            if (node != null) {
                changeElsewhere(
                        node.add((Allocation.Place.OnNode) worker.place(), booking.ofWorker(worker), view), view);
                choice.markChanged(node, view);
            } else {
                changeElsewhere(worker.place().gpuMilli(), view);
            }
        }
    }

    @Override
    public void remove(Booking booking, UsageView view) {
        takeBack(booking, view);
        for (Allocation.Worker worker : booking.allocation().workers()) {
            NodeCapacity node = onNode(worker);
            if (node != null) {
                recordFreedCapacity(node, Availability.NOW);
                recordFreedCapacity(
                        node,
                        view == UsageView.CURRENT ? Availability.IGNORING_NOMINATIONS : Availability.AFTER_RELEASES);
            }
        }
    }

    @Override
    public void takeBack(Booking booking, UsageView view) {
        for (Allocation.Worker worker : booking.allocation().workers()) {
            NodeCapacity node = onNode(worker);
            if (node != null) {
                changeElsewhere(
                        -node.remove((Allocation.Place.OnNode) worker.place(), booking.ofWorker(worker), view), view);
                choice.markChanged(node, view);
            } else {
                changeElsewhere(-worker.place().gpuMilli(), view);
            }
        }
    }

    private void changeElsewhere(long gpuMilli, UsageView view) {
        switch (view) {
            case CURRENT -> elsewhereNowGpuMilli += gpuMilli;
            case PROJECTED -> elsewhereNextGpuMilli += gpuMilli;
        }
    }

    private void recordFreedCapacity(NodeCapacity node, Availability availability) {
        // If the pool as a whole is capped, capacity freed on one node helps requests on all nodes.
        Optional<NodeCapacity> where = maxGpuMilli.isPresent() ? Optional.empty() : Optional.of(node);
        for (RequestSignature requestSignature : signatures) {
            if (requestSignature.hasMissed(availability)) {
                requestSignature.recordFreedCapacity(where, availability);
            }
        }
    }

    /**
     * The worker's node. Null if the node is no longer known, or if the pool was a plain count when the worker started.
     */
    private @Nullable NodeCapacity onNode(Allocation.Worker worker) {
        return switch (worker.place()) {
            case Allocation.Place.OnNode place -> byId.get(place.node());
            case Allocation.Place.Counted counted -> null;
        };
    }
}
