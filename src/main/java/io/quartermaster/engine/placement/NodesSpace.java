package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Mix;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.Slice;
import io.quartermaster.engine.quota.When;
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

/** The room of a pool of nodes. */
public final class NodesSpace implements Space {
    private static final int WHOLE_POOL = -1;

    private final Pool pool;
    private final OptionalLong maxGpuMilli;
    private final Map<NodeId, NodeSpace> byId = new HashMap<>();
    private final List<NodeSpace> byPosition = new ArrayList<>();
    private final List<Node> known = new ArrayList<>();
    private final NodeChoice choice;
    private final List<NodeSpace> lost = new ArrayList<>();
    private final List<Kind> kinds = new ArrayList<>();
    private final boolean hasClosedNodes;
    private final boolean hasNodesOfOneTenant;
    private @Nullable NodesSpace empty;
    private @Nullable NodesSpace emptyIfOpen;
    private @Nullable NodesSpace emptyOpen;
    private @Nullable SortedSet<Long> deviceSizes;
    private long upGpuMilli;
    private long elsewhereNowGpuMilli;
    private long elsewhereNextGpuMilli;

    NodesSpace(Pool pool, Pool.Capacity.Nodes capacity, Collection<Node> nodes) {
        this.pool = pool;
        this.maxGpuMilli = capacity.maxGpuMilli();
        SortedMap<NodeId, Node> inOrder = new TreeMap<>();
        nodes.forEach(node -> inOrder.put(node.id(), node));
        for (Node node : inOrder.values()) {
            NodeSpace space = new NodeSpace(node, byPosition.size(), pool.sharing());
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
        choice = new NodeChoice(pool, byPosition);
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
    public long heldBeyondCapacityGpuMilli() {
        long beyond = Math.max(elsewhereNowGpuMilli, elsewhereNextGpuMilli);
        boolean bounded = maxGpuMilli.isPresent() || !pool.hasExecutor();
        long onNodes = heldGpuMilli(bounded ? byPosition : lost, Horizon.LATER);
        return beyond + (bounded ? Math.max(0, onNodes - capacityGpuMilli()) : onNodes);
    }

    private static long heldGpuMilli(Collection<NodeSpace> nodes, Horizon horizon) {
        long held = 0;
        for (NodeSpace node : nodes) {
            held += node.devices().size() * 1000L - node.freeGpuMilli(horizon);
        }
        return held;
    }

    @Override
    public long freeGpuMilli(Horizon horizon) {
        long free = choice.freeGpuMilli(horizon);
        if (maxGpuMilli.isEmpty()) {
            return free;
        }
        return Math.max(0, Math.min(free, maxGpuMilli.getAsLong() - heldGpuMilli(byPosition, horizon)));
    }

    @Override
    public long untouchedGpus(Horizon horizon) {
        return Math.min(choice.untouchedGpus(horizon), freeGpuMilli(horizon) / DeviceSpace.WHOLE);
    }

    @Override
    public Optional<String> unmetNeed(Request request) {
        return new ShapeFit(pool, known).unmetNeed(request);
    }

    @Override
    public long freeGpuMilli(NodeId node, Horizon horizon) {
        NodeSpace space = byId.get(node);
        return space == null || !space.takesWork() ? 0 : Math.min(space.freeGpuMilli(horizon), freeGpuMilli(horizon));
    }

    @Override
    public boolean isSharedBeside(NodeId node, int device, String tenant) {
        NodeSpace space = byId.get(node);
        return space != null && space.isSharedBeside(device, tenant, Horizon.LATER);
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
        return largeEnough.isEmpty() ? DeviceSpace.WHOLE : DeviceSpace.partOf(memoryMiB, largeEnough.first());
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
    public Optional<Allocation> place(Request request, Horizon horizon) {
        return request.shape().isPlain() ? placeSet(request, horizon) : placeSets(request, horizon);
    }

    /** Each set in its own topology, all inside one domain where that is asked for. */
    private Optional<Allocation> placeSets(Request request, Horizon horizon) {
        Optional<Integer> together = level(request.shape().together());
        if (together.isEmpty()) {
            return Optional.empty();
        }
        List<Request> largestFirst = new ArrayList<>(request.sets());
        largestFirst.sort(Comparator.comparingLong((Request set) -> -gpuMilliOf(set.gpus()))
                .thenComparing(set -> set.numbers().getFirst()));
        List<List<NodeSpace>> domains =
                together.get() == WHOLE_POOL ? List.of(byPosition) : domains(byPosition, together.get(), horizon);
        for (List<NodeSpace> domain : domains) {
            Set<NodeId> inside = new HashSet<>();
            domain.forEach(node -> inside.add(node.node().id()));
            Optional<Allocation> place = placeSets(
                    largestFirst.stream()
                            .map(set -> set.within(node -> inside.contains(node.id())))
                            .toList(),
                    horizon);
            if (place.isPresent() && withinCap(place.get().gpuMilli(), horizon)) {
                return place;
            }
        }
        return Optional.empty();
    }

    /**
     * One set after the other, those with the most GPUs per worker first. What is best for one may leave no room for another: that one then goes
     * before all others, in at most as many tries as there are answers to the question which set goes before which.
     */
    private Optional<Allocation> placeSets(List<Request> largestFirst, Horizon horizon) {
        List<Request> order = new ArrayList<>(largestFirst);
        int mostTries = Math.max(1, order.size() * (order.size() - 1));
        for (int tries = 0; tries < mostTries; tries++) {
            List<Request> tried = new ArrayList<>();
            Optional<Allocation> place = placeInTurn(order, horizon, set -> {
                tried.add(set);
                return placeSet(set, horizon);
            });
            Request last = tried.getLast();
            if (place.isPresent() || last == order.getFirst()) {
                return place;
            }
            order.remove(last);
            order.addFirst(last);
        }
        return Optional.empty();
    }

    private Optional<Allocation> placeSet(Request request, Horizon horizon) {
        Optional<Integer> required = level(request.shape().requiredLevel());
        if (required.isEmpty()
                || level(request.shape().slice().map(Slice::level)).isEmpty()) {
            return Optional.empty();
        }
        int narrowest =
                Math.max(required.get(), level(request.shape().preferredLevel()).orElse(WHOLE_POOL));
        for (int level = narrowest; level >= required.get(); level--) {
            Optional<Allocation> place = placeInOneDomain(request, level, horizon);
            if (place.isPresent() && withinCap(place.get().gpuMilli(), horizon)) {
                return place;
            }
        }
        return Optional.empty();
    }

    private boolean withinCap(long gpuMilli, Horizon horizon) {
        return maxGpuMilli.isEmpty() || gpuMilli <= freeGpuMilli(horizon);
    }

    /** The index of a level, the whole pool where none is asked for; empty when the pool has no such level. */
    private Optional<Integer> level(Optional<String> name) {
        if (name.isEmpty()) {
            return Optional.of(WHOLE_POOL);
        }
        int index = pool.topologyLevels().indexOf(name.get());
        return index < 0 ? Optional.empty() : Optional.of(index);
    }

    private Optional<Allocation> placeInOneDomain(Request request, int level, Horizon horizon) {
        if (request.shape().slice().isPresent()) {
            return placeSlices(request, request.shape().slice().get(), level, horizon);
        }
        if (level == WHOLE_POOL) {
            return placeEach(request, horizon, () -> choice.bestInPool(request, horizon));
        }
        for (List<NodeSpace> domain : domains(byPosition, level, horizon)) {
            Optional<Allocation> place = placeEach(request, horizon, () -> choice.bestOf(domain, request, horizon));
            if (place.isPresent()) {
                return place;
            }
        }
        return Optional.empty();
    }

    /** All inside one domain of a level, and each slice inside one of its own level. */
    private Optional<Allocation> placeSlices(Request request, Slice slice, int level, Horizon horizon) {
        int ofSlice = level(Optional.of(slice.level())).orElse(WHOLE_POOL);
        List<List<NodeSpace>> domains = level == WHOLE_POOL ? List.of(byPosition) : domains(byPosition, level, horizon);
        for (List<NodeSpace> domain : domains) {
            Optional<Allocation> place = placeSlices(request.slices(), domain, ofSlice, horizon);
            if (place.isPresent()) {
                return place;
            }
        }
        return Optional.empty();
    }

    /**
     * Slice by slice, each in the first of the domains that has room for it. As all are alike and no domain's room for them depends on
     * another, this finds a place for all whenever there is one.
     */
    private Optional<Allocation> placeSlices(List<Request> slices, List<NodeSpace> nodes, int level, Horizon horizon) {
        return placeInTurn(slices, horizon, slice -> placeSlice(slice, domains(nodes, level, horizon), horizon));
    }

    /** One request after the other, all or none. */
    private Optional<Allocation> placeInTurn(
            List<Request> requests, Horizon horizon, Function<Request, Optional<Allocation>> placing) {
        When taken = horizon == Horizon.IGNORING_PROMISES ? When.NOW : When.NEXT;
        List<Tenure> tentative = new ArrayList<>(requests.size());
        Optional<Allocation> all = Optional.of(new Allocation(pool.id(), List.of()));
        for (Request request : requests) {
            Optional<Allocation> place = placing.apply(request);
            if (place.isEmpty()) {
                all = Optional.empty();
                break;
            }
            Tenure tenure = request.tenure(place.get());
            add(tenure, taken);
            tentative.add(tenure);
            all = all.map(before -> before.with(place.get()));
        }
        tentative.forEach(tenure -> takeBack(tenure, taken));
        return all;
    }

    private Optional<Allocation> placeSlice(Request slice, List<List<NodeSpace>> domains, Horizon horizon) {
        for (List<NodeSpace> domain : domains) {
            Optional<Allocation> place = placeEach(slice, horizon, () -> choice.bestOf(domain, slice, horizon));
            if (place.isPresent()) {
                return place;
            }
        }
        return Optional.empty();
    }

    /** The nodes by domain; the tightest domain first where the pool packs, the emptiest where it spreads. */
    private List<List<NodeSpace>> domains(List<NodeSpace> nodes, int level, Horizon horizon) {
        SortedMap<String, List<NodeSpace>> byPath = new TreeMap<>();
        for (NodeSpace node : nodes) {
            List<String> topology = node.node().topology();
            if (topology.size() > level) {
                String path = String.join("/", topology.subList(0, level + 1));
                byPath.computeIfAbsent(path, key -> new ArrayList<>()).add(node);
            }
        }
        List<List<NodeSpace>> domains = new ArrayList<>(byPath.values());
        Comparator<List<NodeSpace>> byFree = Comparator.comparingLong(domain -> freeOf(domain, horizon));
        // The sort is stable: domains with equal room stay in order of their path.
        domains.sort(pool.placement() == Pool.Placement.PACK ? byFree : byFree.reversed());
        return domains;
    }

    private static long freeOf(List<NodeSpace> domain, Horizon horizon) {
        long free = 0;
        for (NodeSpace node : domain) {
            free += freeToTakeWork(node, horizon);
        }
        return free;
    }

    private static long freeToTakeWork(NodeSpace node, Horizon horizon) {
        return node.takesWork() ? node.freeGpuMilli(horizon) : 0;
    }

    /**
     * Places worker by worker, each at its best place. As all are alike and a node's room for them does not depend on
     * other nodes, this finds a place for all whenever there is one.
     */
    private Optional<Allocation> placeEach(Request request, Horizon horizon, Supplier<Optional<NodeOffer>> bestOffer) {
        When taken = horizon == Horizon.IGNORING_PROMISES ? When.NOW : When.NEXT;
        List<Allocation.Worker> workers = new ArrayList<>(request.workers());
        List<Tenure> tentative = new ArrayList<>(request.workers());
        for (int number : request.numbers()) {
            Optional<NodeOffer> best = bestOffer.get();
            if (best.isEmpty()) {
                break;
            }
            Allocation.Worker worker = new Allocation.Worker(number, best.get().place());
            workers.add(worker);
            if (request.workers() > 1) {
                Tenure tenure = request.tenure(new Allocation(pool.id(), List.of(worker)));
                add(tenure, taken);
                tentative.add(tenure);
            }
        }
        tentative.forEach(tenure -> takeBack(tenure, taken));
        return workers.size() == request.workers() ? Optional.of(new Allocation(pool.id(), workers)) : Optional.empty();
    }

    @Override
    public boolean couldFitRearranged(Request request) {
        if (freeGpuMilli(Horizon.LATER) < request.leastGpuMilli()) {
            return false;
        }
        // A share of memory is another part of another GPU where these differ.
        boolean partsStayTheSame = deviceSizes().size() <= 1;
        return !partsStayTheSame || !request.shape().isPlain() || choice.couldFitRearranged(request, Horizon.LATER);
    }

    @Override
    public List<SortedSet<NodeId>> areas(Request request) {
        Optional<String> wish = request.shape()
                .together()
                .or(() -> request.shape().requiredLevel())
                .or(() -> request.shape().preferredLevel())
                .or(() -> request.shape().slice().map(Slice::level));
        int level = level(wish).orElse(WHOLE_POOL);
        if (request.workers() == 1) {
            return singleNodes(request.within());
        }
        List<List<NodeSpace>> domains = level == WHOLE_POOL ? List.of() : domains(byPosition, level, Horizon.LATER);
        List<List<NodeSpace>> emptiestFirst = new ArrayList<>(domains);
        emptiestFirst.sort(Comparator.comparingLong((List<NodeSpace> domain) -> freeOf(domain, Horizon.LATER))
                .reversed());
        List<SortedSet<NodeId>> areas = new ArrayList<>(emptiestFirst.size());
        for (List<NodeSpace> domain : emptiestFirst) {
            SortedSet<NodeId> area = new TreeSet<>();
            domain.forEach(node -> area.add(node.node().id()));
            areas.add(area);
        }
        return areas;
    }

    private List<SortedSet<NodeId>> singleNodes(Predicate<Node> within) {
        List<NodeSpace> nodes = new ArrayList<>(byPosition.size());
        for (NodeSpace node : byPosition) {
            if (within.test(node.node())) {
                nodes.add(node);
            }
        }
        nodes.sort(Comparator.comparingLong((NodeSpace node) -> -freeToTakeWork(node, Horizon.LATER)));
        List<SortedSet<NodeId>> areas = new ArrayList<>(nodes.size());
        nodes.forEach(node -> areas.add(node.alone()));
        return areas;
    }

    @Override
    public Optional<Lack> lackingLeast(Request request, Horizon horizon) {
        if (!request.shape().isPlain() || request.workers() != 1) {
            return Optional.empty();
        }
        Optional<Lack> least = Optional.empty();
        for (NodeSpace node : byPosition) {
            if (node.takesWork() && NodeChoice.suits(node, request)) {
                int needed = devices(request.gpus());
                int missing = request.gpus() instanceof GpuRequest.Whole
                        ? Math.max(0, needed - node.untouched(horizon))
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
    public long unusableGpuMilli(Mix mix) {
        return new Fragmentation(mix, byPosition).unusableGpuMilli(byPosition);
    }

    @Override
    public boolean couldEver(Request request) {
        if (request.gpuMilli(this) > maxGpuMilli.orElse(Long.MAX_VALUE)) {
            return false;
        }
        NodesSpace all = empty;
        if (all == null) {
            all = empty(node -> true, node -> node.upAndSchedulable().open());
            empty = all;
        }
        return all.place(request, Horizon.AT_ONCE).isPresent();
    }

    @Override
    public boolean fitsOnceEmpty(Request request) {
        return request.gpuMilli(this) <= maxGpuMilli.orElse(Long.MAX_VALUE)
                && emptyOpen().place(request, Horizon.AT_ONCE).isPresent();
    }

    /** The nodes that take work, with nothing held. */
    private NodesSpace emptyOpen() {
        NodesSpace open = emptyOpen;
        if (open == null) {
            open = empty(node -> node.up() && node.schedulable(), node -> node);
            emptyOpen = open;
        }
        return open;
    }

    /** The same pool while nothing is held, with some of the nodes. */
    private NodesSpace empty(Predicate<Node> some, UnaryOperator<Node> change) {
        return new NodesSpace(
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
    public boolean isOnlyForClosedNodes(Request request) {
        if (!hasClosedNodes) {
            return false;
        }
        NodesSpace ifOpen = emptyIfOpen;
        if (ifOpen == null) {
            ifOpen = empty(node -> node.up() || !node.schedulable(), node -> node.upAndSchedulable()
                    .open());
            emptyIfOpen = ifOpen;
        }
        return emptyOpen().place(request, Horizon.AT_ONCE).isEmpty()
                && ifOpen.place(request, Horizon.AT_ONCE).isPresent();
    }

    @Override
    public boolean wouldFitIfNodesWereOpen(Request request) {
        if (!hasClosedNodes) {
            return false;
        }
        choice.openAll();
        boolean fits = place(request, Horizon.AT_ONCE).isPresent();
        choice.closeAgain();
        return fits;
    }

    @Override
    public boolean fits(Tenure tenure, Horizon horizon) {
        When taken = horizon == Horizon.IGNORING_PROMISES ? When.NOW : When.NEXT;
        List<Tenure> tentative = new ArrayList<>();
        boolean fits = withinCap(tenure.gpuMilli(), horizon);
        for (Allocation.Worker worker : tenure.allocation().workers()) {
            NodeSpace node = onNode(worker);
            if (!fits
                    || node == null
                    || !node.takesWorkOf(tenure.tenant())
                    || !node.fits((Allocation.Place.OnNode) worker.place(), tenure.ofWorker(worker), horizon)) {
                fits = false;
                break;
            }
            Tenure one = tenure.at(new Allocation(pool.id(), List.of(worker)));
            add(one, taken);
            tentative.add(one);
        }
        tentative.forEach(one -> takeBack(one, taken));
        return fits;
    }

    @Override
    public Optional<Tenure> freePart(Tenure tenure, Horizon horizon) {
        When taken = horizon == Horizon.IGNORING_PROMISES ? When.NOW : When.NEXT;
        List<Allocation.Worker> workers = new ArrayList<>();
        List<Tenure> tentative = new ArrayList<>();
        for (Allocation.Worker worker : tenure.allocation().workers()) {
            NodeSpace node = onNode(worker);
            if (node != null && node.takesWork() && worker.place() instanceof Allocation.Place.OnNode place) {
                node.freePart(place, tenure.ofWorker(worker), horizon).ifPresent(part -> {
                    Allocation.Worker held = new Allocation.Worker(worker.number(), part);
                    Tenure one = tenure.at(new Allocation(pool.id(), List.of(held)));
                    add(one, taken);
                    tentative.add(one);
                    workers.add(held);
                });
            }
        }
        tentative.reversed().forEach(one -> takeBack(one, taken));
        return workers.isEmpty() ? Optional.empty() : Optional.of(tenure.at(new Allocation(pool.id(), workers)));
    }

    @Override
    public void tell(Kind kind) {
        kinds.add(kind);
    }

    @Override
    public void add(Tenure tenure, When when) {
        for (Allocation.Worker worker : tenure.allocation().workers()) {
            NodeSpace node = onNode(worker);
            if (node != null) {
                changeElsewhere(
                        node.add((Allocation.Place.OnNode) worker.place(), tenure.ofWorker(worker), when), when);
                choice.changed(node, when);
            } else {
                changeElsewhere(worker.place().gpuMilli(), when);
            }
        }
    }

    @Override
    public void remove(Tenure tenure, When when) {
        takeBack(tenure, when);
        for (Allocation.Worker worker : tenure.allocation().workers()) {
            NodeSpace node = onNode(worker);
            if (node != null) {
                cameFree(node, Horizon.AT_ONCE);
                if (when == When.NOW) {
                    cameFree(node, Horizon.IGNORING_PROMISES);
                }
            }
        }
    }

    /** Undoes {@link #add} of something that was only tried, so that nothing comes free. */
    private void takeBack(Tenure tenure, When when) {
        for (Allocation.Worker worker : tenure.allocation().workers()) {
            NodeSpace node = onNode(worker);
            if (node != null) {
                changeElsewhere(
                        -node.remove((Allocation.Place.OnNode) worker.place(), tenure.ofWorker(worker), when), when);
                choice.changed(node, when);
            } else {
                changeElsewhere(-worker.place().gpuMilli(), when);
            }
        }
    }

    private void changeElsewhere(long gpuMilli, When when) {
        switch (when) {
            case NOW -> elsewhereNowGpuMilli += gpuMilli;
            case NEXT -> elsewhereNextGpuMilli += gpuMilli;
        }
    }

    private void cameFree(NodeSpace node, Horizon horizon) {
        // Where the pool as a whole is bounded, what comes free on one node is of use on all.
        Optional<NodeSpace> where = maxGpuMilli.isPresent() ? Optional.empty() : Optional.of(node);
        for (Kind kind : kinds) {
            if (kind.misfit(horizon)) {
                kind.cameFree(where, horizon);
            }
        }
    }

    /** The worker's node; none when the node is not known any more, or the pool was a plain count before. */
    private @Nullable NodeSpace onNode(Allocation.Worker worker) {
        return switch (worker.place()) {
            case Allocation.Place.OnNode place -> byId.get(place.node());
            case Allocation.Place.Counted counted -> null;
        };
    }
}
