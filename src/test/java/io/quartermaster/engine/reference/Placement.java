package io.quartermaster.engine.reference;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.WorkloadId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The devices of one pool: which are free, and which a request gets. */
final class Placement {
    private static final int GPU = 1000;

    /** The owner of the workers of a gang while its other workers are placed. */
    private static final WorkloadId TENTATIVE = new WorkloadId("tentative");

    final Pool pool;
    private final List<Node> nodes;

    /** @param nodes the nodes of the pool, in the order of their ids */
    Placement(Pool pool, Collection<Node> nodes) {
        this.pool = pool;
        this.nodes =
                nodes.stream().filter(node -> node.pool().equals(pool.id())).toList();
    }

    /**
     * Workers that need places, all or none.
     *
     * @param numbers the workers' numbers, in order
     * @param within the nodes on which they may be, beside the needs of the shape
     */
    record Request(Shape shape, List<Integer> numbers, QuotaPath path, Predicate<Node> within) {
        Request on(Predicate<Node> others) {
            return new Request(shape, numbers, path, within.and(others));
        }
    }

    /** The capacity that is up. */
    long capacity() {
        if (!pool.hasExecutor()) {
            return 0;
        }
        return switch (pool.capacity()) {
            case Pool.Capacity.Count count -> count.gpuMilli();
            case Pool.Capacity.Nodes ofNodes ->
                nodes.stream()
                        .filter(Node::up)
                        .mapToLong(node -> node.devices().size() * (long) GPU)
                        .sum();
        };
    }

    /**
     * The amount held outside the capacity in a view: on lost or unknown nodes, and beyond a count. It is use of its
     * holders and takes nothing from other work (ADR 13).
     */
    long heldBeyondCapacity(Holdings holdings, Moment.View view) {
        return isCount() || !pool.hasExecutor()
                ? Math.max(0, usedHere(holdings, view) - capacity())
                : holdings.used(view, entry -> entry.pool().equals(pool.id()) && !isOnNodeThatIsUp(entry));
    }

    private long usedHere(Holdings holdings, Moment.View view) {
        return holdings.used(view, entry -> entry.pool().equals(pool.id()));
    }

    private boolean isOnNodeThatIsUp(Holdings.Entry entry) {
        return entry.worker().place() instanceof Allocation.Place.OnNode place
                && nodes.stream().anyMatch(node -> node.id().equals(place.node()) && node.up());
    }

    private boolean isCount() {
        return pool.capacity() instanceof Pool.Capacity.Count;
    }

    /** The free amount on nodes that take new work. */
    long free(Holdings holdings, Moment moment) {
        if (isCount()) {
            long used = 0;
            for (Moment.View view : moment.views) {
                used = Math.max(used, usedHere(holdings, view));
            }
            return Math.max(0, capacity() - used);
        }
        return nodes.stream()
                .filter(Placement::takesWork)
                .mapToLong(node -> free(node, holdings, moment))
                .sum();
    }

    private static boolean takesWork(Node node) {
        return node.up() && node.schedulable();
    }

    private static long free(Node node, Holdings holdings, Moment moment) {
        Holdings here = holdings.on(node.id());
        return node.devices().stream()
                .mapToLong(device -> free(node, device, here, moment))
                .sum();
    }

    /** The free part of a GPU: what is free in every view. */
    private static int free(Node node, Node.Device device, Holdings holdings, Moment moment) {
        int used = 0;
        for (Moment.View view : moment.views) {
            int usedInView = 0;
            for (Share held : heldOf(node, device, holdings, view)) {
                usedInView += held.share.gpuMilli();
            }
            used = Math.max(used, usedInView);
        }
        return GPU - used;
    }

    /** A share of a GPU with its holder's tenant. */
    private record Share(String tenant, Allocation.Share share) {}

    private static List<Share> heldOf(Node node, Node.Device device, Holdings holdings, Moment.View view) {
        List<Share> held = new ArrayList<>();
        for (Holdings.Entry entry : holdings.entries()) {
            if (entry.in(view)
                    && entry.worker().place() instanceof Allocation.Place.OnNode place
                    && place.node().equals(node.id())) {
                for (Allocation.Share share : place.shares()) {
                    if (share.device() == device.index()) {
                        held.add(new Share(entry.path().tenant(), share));
                    }
                }
            }
        }
        return held;
    }

    /** The amount of one worker while it waits: memory counts as its part of the smallest GPU that can hold it. */
    long gpuMilliOf(GpuRequest gpus) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> whole.count() * (long) GPU;
            case GpuRequest.Fraction fraction -> (long) fraction.devices() * fraction.gpuMilliEach();
            case GpuRequest.Memory memory -> memory.devices() * (long) partOfSmallest(memory.memoryMiBEach());
            case GpuRequest.Mig mig -> mig.computeSlices() * (long) GPU / 7;
        };
    }

    private int partOfSmallest(long memoryMiB) {
        return nodes.stream()
                .flatMap(node -> node.devices().stream())
                .map(Node.Device::memoryMiB)
                .filter(size -> size >= memoryMiB)
                .min(Comparator.naturalOrder())
                .map(size -> partOf(memoryMiB, size))
                .orElse(GPU);
    }

    /** Memory as its part of a GPU, rounded up. */
    private static int partOf(long memoryMiB, long ofMiB) {
        return Math.toIntExact((memoryMiB * GPU + ofMiB - 1) / ofMiB);
    }

    /** The amount of workers of a shape while they wait. */
    long gpuMilliOf(Shape shape, List<Integer> numbers) {
        return numbers.stream()
                .mapToLong(number -> gpuMilliOf(shape.of(number).gpus()))
                .sum();
    }

    /** The place for all workers together, or none. */
    Optional<Allocation> place(Request request, Holdings holdings, Moment moment) {
        return isCount() ? placeInCount(request, holdings, moment) : placeOnNodes(request, nodes, holdings, moment);
    }

    private Optional<Allocation> placeInCount(Request request, Holdings holdings, Moment moment) {
        Shape shape = request.shape;
        boolean countable = shape.labels().isEmpty()
                && shape.requiredLevel().isEmpty()
                && !(shape.gpus() instanceof GpuRequest.Memory);
        if (!countable || gpuMilliOf(shape, request.numbers) > free(holdings, moment)) {
            return Optional.empty();
        }
        return Optional.of(new Allocation(
                pool.id(),
                request.numbers.stream()
                        .map(number ->
                                new Allocation.Worker(number, new Allocation.Place.Counted(gpuMilliOf(shape.gpus()))))
                        .toList()));
    }

    /**
     * All workers inside one domain of the required level, in the tightest of the preferred one. Tie-break between the
     * levels: from the narrowest that is preferred to the one that is required.
     */
    private Optional<Allocation> placeOnNodes(Request request, List<Node> among, Holdings holdings, Moment moment) {
        int required = level(request.shape.requiredLevel());
        if (required == NO_SUCH_LEVEL) {
            return Optional.empty();
        }
        int narrowest = Math.max(required, level(request.shape.preferredLevel()));
        for (int level = narrowest; level >= required; level--) {
            List<List<Node>> domains = level == WHOLE_POOL ? List.of(among) : domains(among, level, holdings, moment);
            for (List<Node> domain : domains) {
                Optional<Allocation> place = placeInDomain(request, domain, holdings, moment);
                if (place.isPresent()) {
                    return place;
                }
            }
        }
        return Optional.empty();
    }

    private static final int WHOLE_POOL = -1;
    private static final int NO_SUCH_LEVEL = Integer.MIN_VALUE;

    private int level(Optional<String> name) {
        if (name.isEmpty()) {
            return WHOLE_POOL;
        }
        int index = pool.topologyLevels().indexOf(name.get());
        return index < 0 ? NO_SUCH_LEVEL : index;
    }

    /** The nodes by domain: the tightest first if the pool packs, the emptiest first if it spreads; ties by path. */
    private List<List<Node>> domains(List<Node> among, int level, Holdings holdings, Moment moment) {
        SortedMap<String, List<Node>> byPath = new TreeMap<>();
        for (Node node : among) {
            if (node.topology().size() > level) {
                byPath.computeIfAbsent(
                                String.join("/", node.topology().subList(0, level + 1)), path -> new ArrayList<>())
                        .add(node);
            }
        }
        List<List<Node>> domains = new ArrayList<>(byPath.values());
        int sign = pool.placement() == Pool.Placement.PACK ? 1 : -1;
        domains.sort(Comparator.comparingLong(domain -> sign
                * domain.stream()
                        .filter(Placement::takesWork)
                        .mapToLong(node -> free(node, holdings, moment))
                        .sum()));
        return domains;
    }

    /** Worker by worker, each at its best place. */
    private Optional<Allocation> placeInDomain(Request request, List<Node> domain, Holdings holdings, Moment moment) {
        Holdings tried = holdings;
        Allocation all = new Allocation(pool.id(), List.of());
        for (int number : request.numbers) {
            Score best = null;
            for (Node node : domain) {
                Score score = score(request, node, tried.on(node.id()), moment);
                if (score != null && (best == null || score.compareTo(best, pool.placement()) < 0)) {
                    best = score;
                }
            }
            if (best == null) {
                return Optional.empty();
            }
            Allocation one = new Allocation(pool.id(), List.of(new Allocation.Worker(number, best.place())));
            tried = tried.with(
                    new Holdings.Owner(TENTATIVE, request.path, Optional.empty(), true, request.shape),
                    one,
                    moment.views);
            all = all.with(one);
        }
        return Optional.of(all);
    }

    /**
     * The score of a node for one worker. A fraction takes the GPU that it fills best among those already shared. Then
     * the fullest node is best if the pool packs, the emptiest if it spreads: first by untouched GPUs, then by the free
     * amount. Ties go to the first id.
     *
     * @param opened the untouched GPUs that it would open for parts
     * @param leftOnShared the amount left free on the GPUs that it would share
     */
    private record Score(
            NodeId node,
            List<Allocation.Share> shares,
            int opened,
            long leftOnShared,
            long untouchedLeft,
            long freeLeft) {
        int compareTo(Score other, Pool.Placement placement) {
            int sign = placement == Pool.Placement.PACK ? 1 : -1;
            return Comparator.comparingInt(Score::opened)
                    .thenComparingLong(Score::leftOnShared)
                    .thenComparingLong(score -> sign * score.untouchedLeft)
                    .thenComparingLong(score -> sign * score.freeLeft)
                    .thenComparing(Score::node)
                    .compare(this, other);
        }

        Allocation.Place place() {
            return new Allocation.Place.OnNode(node, shares);
        }
    }

    /** @param holdings those on the node */
    private @Nullable Score score(Request request, Node node, Holdings holdings, Moment moment) {
        List<Allocation.Share> shares = shares(request, node, holdings, moment);
        if (shares == null) {
            return null;
        }
        int opened = 0;
        long leftOnShared = 0;
        long untouchedLeft = 0;
        long freeLeft = 0;
        for (Node.Device device : node.devices()) {
            int free = free(node, device, holdings, moment);
            int taken = shares.stream()
                    .filter(share -> share.device() == device.index())
                    .mapToInt(Allocation.Share::gpuMilli)
                    .sum();
            boolean part = taken > 0 && taken < GPU;
            opened += part && free == GPU ? 1 : 0;
            leftOnShared += part ? free - taken : 0;
            untouchedLeft += free == GPU && taken == 0 ? 1 : 0;
            freeLeft += free - taken;
        }
        return new Score(node.id(), shares, opened, leftOnShared, untouchedLeft, freeLeft);
    }

    /** The shares for one worker on a node; null if it does not fit there. */
    private @Nullable List<Allocation.Share> shares(Request request, Node node, Holdings holdings, Moment moment) {
        String tenant = request.path.tenant();
        if (!takesWork(node)
                || !node.takesWorkOf(tenant)
                || !request.within.test(node)
                || !node.labels().entrySet().containsAll(request.shape.labels().entrySet())
                || !hostHasRoom(request.shape, node, holdings, moment)) {
            return null;
        }
        GpuRequest gpus = request.shape.gpus();
        int count =
                switch (gpus) {
                    case GpuRequest.Whole whole -> whole.count();
                    case GpuRequest.Fraction fraction -> fraction.devices();
                    case GpuRequest.Memory memory -> memory.devices();
                    case GpuRequest.Mig mig -> 1;
                };
        // Whole GPUs are taken in the order of their index; parts on the fullest GPUs first, then by index.
        List<Node.Device> order = new ArrayList<>(node.devices());
        if (!(gpus instanceof GpuRequest.Whole)) {
            order.sort(Comparator.comparingInt(device -> free(node, device, holdings, moment)));
        }
        List<Allocation.Share> shares = new ArrayList<>();
        for (Node.Device device : order) {
            int part = partOn(gpus, device);
            if (shares.size() < count && part > 0 && fits(part, tenant, node, device, holdings, moment)) {
                shares.add(new Allocation.Share(device.index(), part, Optional.empty()));
            }
        }
        shares.sort(Comparator.comparingInt(Allocation.Share::device));
        return shares.size() == count ? shares : null;
    }

    /** The part of a device that a request takes; 0 if the device is too small. */
    private static int partOn(GpuRequest gpus, Node.Device device) {
        return switch (gpus) {
            case GpuRequest.Whole whole -> GPU;
            case GpuRequest.Fraction fraction -> fraction.gpuMilliEach();
            case GpuRequest.Memory memory ->
                memory.memoryMiBEach() > device.memoryMiB() ? 0 : partOf(memory.memoryMiBEach(), device.memoryMiB());
            case GpuRequest.Mig mig -> throw new IllegalArgumentException("MIG instances are not covered");
        };
    }

    /** Whether a part is free; a GPU is shared only within one tenant, unless the pool says otherwise. */
    private boolean fits(int part, String tenant, Node node, Node.Device device, Holdings holdings, Moment moment) {
        if (part > free(node, device, holdings, moment)) {
            return false;
        }
        for (Moment.View view : moment.views) {
            for (Share held : heldOf(node, device, holdings, view)) {
                boolean mayShare =
                        switch (pool.sharing()) {
                            case TENANT -> held.tenant.equals(tenant);
                            case ANY -> true;
                            case NONE -> false;
                        };
                if (!mayShare) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean hostHasRoom(Shape shape, Node node, Holdings holdings, Moment moment) {
        for (Moment.View view : moment.views) {
            long cpu = shape.cpuMilli();
            long memory = shape.memoryMiB();
            for (Holdings.Entry entry : holdings.entries()) {
                if (entry.in(view)
                        && entry.worker().place() instanceof Allocation.Place.OnNode place
                        && place.node().equals(node.id())) {
                    cpu += entry.shape().cpuMilli();
                    memory += entry.shape().memoryMiB();
                }
            }
            if (cpu > node.cpuMilli().orElse(Long.MAX_VALUE)
                    || memory > node.memoryMiB().orElse(Long.MAX_VALUE)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a place that was chosen earlier is free. */
    boolean isFree(Allocation place, Holdings.Owner owner, Holdings holdings, Moment moment) {
        if (isCount()) {
            return place.gpuMilli() <= free(holdings, moment);
        }
        Holdings tried = holdings;
        for (Allocation.Worker worker : place.workers()) {
            Optional<Node> node = worker.place() instanceof Allocation.Place.OnNode on
                    ? nodes.stream().filter(each -> each.id().equals(on.node())).findFirst()
                    : Optional.empty();
            if (node.isEmpty() || !isFree(worker, owner, node.get(), tried, moment)) {
                return false;
            }
            tried = tried.with(owner, new Allocation(pool.id(), List.of(worker)), moment.views);
        }
        return true;
    }

    private boolean isFree(
            Allocation.Worker worker, Holdings.Owner owner, Node node, Holdings holdings, Moment moment) {
        String tenant = owner.path().tenant();
        if (!takesWork(node)
                || !node.takesWorkOf(tenant)
                || !hostHasRoom(owner.shape().of(worker.number()), node, holdings, moment)) {
            return false;
        }
        for (Allocation.Share share : ((Allocation.Place.OnNode) worker.place()).shares()) {
            Optional<Node.Device> device = node.devices().stream()
                    .filter(each -> each.index() == share.device())
                    .findFirst();
            if (device.isEmpty() || !fits(share.gpuMilli(), tenant, node, device.get(), holdings, moment)) {
                return false;
            }
        }
        return true;
    }

    /** The holdings with the free part of a place kept: worker by worker, in whole devices or parts. */
    Holdings keepFreePart(Allocation place, Holdings.Owner owner, Holdings holdings, Moment moment) {
        Holdings kept = holdings;
        long left = free(holdings, moment);
        for (Allocation.Worker worker : place.workers()) {
            Optional<Allocation.Place> part =
                    switch (worker.place()) {
                        case Allocation.Place.Counted counted -> {
                            long free = Math.min(counted.gpuMilli(), left);
                            left -= free;
                            yield free > 0 ? Optional.of(new Allocation.Place.Counted(free)) : Optional.empty();
                        }
                        case Allocation.Place.OnNode on -> freePart(on, worker.number(), owner, kept, moment);
                    };
            if (part.isPresent()) {
                kept = kept.withKept(owner, pool.id(), new Allocation.Worker(worker.number(), part.get()));
            }
        }
        return kept;
    }

    private Optional<Allocation.Place> freePart(
            Allocation.Place.OnNode on, int number, Holdings.Owner owner, Holdings holdings, Moment moment) {
        Optional<Node> node =
                nodes.stream().filter(each -> each.id().equals(on.node())).findFirst();
        if (node.isEmpty()
                || !takesWork(node.get())
                || !hostHasRoom(owner.shape().of(number), node.get(), holdings, moment)) {
            return Optional.empty();
        }
        List<Allocation.Share> free = new ArrayList<>();
        for (Allocation.Share share : on.shares()) {
            node.get().devices().stream()
                    .filter(device -> device.index() == share.device()
                            && fits(share.gpuMilli(), owner.path().tenant(), node.get(), device, holdings, moment))
                    .forEach(device -> free.add(share));
        }
        return free.isEmpty() ? Optional.empty() : Optional.of(new Allocation.Place.OnNode(on.node(), free));
    }

    /** Whether the pool could take a request with every known node up and empty. */
    boolean couldEver(Request request) {
        return withNodes(node -> true, node -> node.upAndSchedulable().open())
                .place(request, Holdings.of(List.of()), Moment.NOW)
                .isPresent();
    }

    /**
     * Whether the request fits only on nodes that are closed to new work of its tenant, even when all are empty. A
     * closed node counts although it is down; another node that is down does not.
     */
    boolean isOnlyForClosedNodes(Request request) {
        Holdings none = Holdings.of(List.of());
        return withNodes(Placement::takesWork, node -> node)
                        .place(request, none, Moment.NOW)
                        .isEmpty()
                && withNodes(node -> node.up() || !node.schedulable(), node -> node.upAndSchedulable()
                                .open())
                        .place(request, none, Moment.NOW)
                        .isPresent();
    }

    /** Whether the request would fit now if the nodes that are up were open to new work of its tenant. */
    boolean wouldFitIfNodesWereOpen(Request request, Holdings holdings) {
        return withNodes(node -> true, Node::open)
                .place(request, holdings, Moment.NOW)
                .isPresent();
    }

    private Placement withNodes(Predicate<Node> some, UnaryOperator<Node> change) {
        return new Placement(pool, nodes.stream().filter(some).map(change).toList());
    }

    /** The free amount on the nodes of an area that take work. */
    long free(SortedSet<NodeId> area, Holdings holdings, Moment moment) {
        return nodes.stream()
                .filter(node -> area.contains(node.id()))
                .filter(Placement::takesWork)
                .mapToLong(node -> free(node, holdings, moment))
                .sum();
    }

    /**
     * The areas in which room is made if it cannot be made in the pool as a whole: single nodes for one worker, domains
     * for workers that must or should be together. Tie-break: the emptiest first, then by id or path.
     */
    List<SortedSet<NodeId>> areas(Request request, Holdings holdings) {
        if (isCount()) {
            return List.of();
        }
        List<List<Node>> areas = new ArrayList<>();
        if (request.numbers.size() == 1) {
            nodes.stream().filter(request.within).forEach(node -> areas.add(List.of(node)));
        } else {
            int level = level(request.shape.requiredLevel().or(request.shape::preferredLevel));
            if (level >= 0) {
                areas.addAll(domains(nodes, level, holdings, Moment.LATER));
            }
        }
        areas.sort(Comparator.comparingLong(area -> -area.stream()
                .filter(Placement::takesWork)
                .mapToLong(node -> free(node, holdings, Moment.LATER))
                .sum()));
        return areas.stream()
                .map(area -> {
                    SortedSet<NodeId> ids = new TreeSet<>();
                    area.forEach(node -> ids.add(node.id()));
                    return ids;
                })
                .toList();
    }
}
