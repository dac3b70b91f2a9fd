package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.Node;
import io.quartermaster.engine.model.NodeId;
import io.quartermaster.engine.model.Pool;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Shape;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadState;

import io.quartermaster.engine.preemption.Holder;
import io.quartermaster.engine.placement.Kind;
import io.quartermaster.engine.placement.NodesSpace;
import io.quartermaster.engine.placement.Request;
import io.quartermaster.engine.placement.Space;
import io.quartermaster.engine.preemption.Room;
import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.quota.Ask;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** What a line's head asks of a pool: of its devices, and of its quotas. */
public final class Wishes {
    private final Facts facts;
    private final Books books;

    public Wishes(Facts facts, Books books) {
        this.facts = facts;
        this.books = books;
    }

    /** The pool's room, if the pool is known. */
    public Optional<Space> space(PoolId pool) {
        return books.cluster().space(pool);
    }

    /** What a line asks of each of its pools that is known, in its order. */
    public List<Wish> of(Line line) {
        return line.wishes(() -> {
            List<Wish> wishes = new ArrayList<>();
            for (PoolId pool : line.key().pools()) {
                space(pool)
                        .filter(space -> line.key().only().isEmpty() || space instanceof NodesSpace)
                        .ifPresent(space -> wishes.add(wish(line, space)));
            }
            return List.copyOf(wishes);
        });
    }

    private Wish wish(Line line, Space space) {
        Line.Key key = line.key();
        Shape shape = asked(line);
        long gpuMilli = shape.isPlain()
                ? space.gpuMilliOf(shape.gpus()) * line.workersOfHead()
                : request(line).gpuMilli(space);
        Ask ask = ask(key, space, gpuMilli).noted();
        Optional<Kind> kind = line.takesAnyNode()
                ? Optional.of(books.cluster().kind(space, request(line), ask.gpuMilli()))
                : Optional.empty();
        return new Wish(
                space,
                ask,
                kind,
                books.running().running(space.pool().id(), key.path()),
                inMillis -> isOpen(line, space.pool(), inMillis),
                books.cluster().meters(space.pool().id(), key.path()));
    }

    private Ask ask(Line.Key key, Space space, long gpuMilli) {
        return new Ask(
                books.cluster().bindingLeaves(space.pool().id(), key.path()),
                books.cluster().ceilings().over(key.path(), key.user()),
                gpuMilli,
                key.growing().isEmpty(),
                key.preemptible(),
                key.dedicatedOnly(),
                key.maxRuntimeMillis());
    }

    /** What a line's head asks for: all or, where none of its pools could ever give it or let it have that, the most that one could, if it takes so few. */
    public Shape asked(Line line) {
        return line.asked(() -> mostPossible(line));
    }

    private Shape mostPossible(Line line) {
        Shape shape = line.key().shape();
        GpuRequest.Whole whole = (GpuRequest.Whole) shape.gpus();
        if (isPossible(line, shape) || !isPossible(line, shape.with(GpuRequest.whole(whole.fewest())))) {
            return shape;
        }
        int possible = whole.fewest();
        int impossible = whole.count();
        while (impossible - possible > 1) {
            int between = (possible + impossible) >>> 1;
            if (isPossible(line, shape.with(GpuRequest.whole(between)))) {
                possible = between;
            } else {
                impossible = between;
            }
        }
        return shape.with(GpuRequest.whole(possible));
    }

    /** Whether one of a line's pools could give its head such a shape, with every known node up and empty, and let it have that. */
    private boolean isPossible(Line line, Shape shape) {
        Request request = new Request(shape, line.numbersWanted(), line.key().path(), nodes(line));
        return line.key().pools().stream()
                .flatMap(pool -> space(pool).stream())
                .anyMatch(space ->
                        books.mayEver(ask(line.key(), space, request.gpuMilli(space))) && space.couldEver(request));
    }

    /**
     * The move of running work to the first of the pools before its own in which it could start at once.
     *
     * @param inMillis until when it may take to leave
     */
    public Optional<Room.Eviction> back(Workload workload, RoomMaker roomMaker, long inMillis) {
        if (!(workload.state() instanceof WorkloadState.Holding holding)) {
            return Optional.empty();
        }
        Optional<Holder> holder = Books.holder(workload, holding);
        List<Integer> numbers = List.copyOf(Books.numbers(holding.allocation()));
        Request request = new Request(workload.shape(), numbers, workload.path(), node -> true);
        Line.Key anew = Line.Key.waiting(workload, workload.user(), Optional.empty(), workload.maxRuntimeMillis());
        int own = workload.pools().indexOf(holding.allocation().pool());
        for (PoolId pool :
                holder.isEmpty() ? List.<PoolId>of() : workload.pools().subList(0, own)) {
            Optional<Room.Eviction> move = space(pool)
                    .filter(room -> mayStartIn(room, workload, request, inMillis))
                    .flatMap(room ->
                            roomMaker.elsewhere(holder.get(), room, ask(anew, room, request.gpuMilli(room)), request));
            if (move.isPresent()) {
                return move;
            }
        }
        return Optional.empty();
    }

    private boolean mayStartIn(Space space, Workload workload, Request request, long inMillis) {
        return books.isOpen(space.pool(), inMillis, workload.preemptible(), workload.maxRuntimeMillis())
                && books.cluster().meters(space.pool().id(), workload.path()).stream()
                        .allMatch(meter -> meter.allowsIn(
                                inMillis,
                                request.gpuMilli(space),
                                workload.preemptible(),
                                workload.maxRuntimeMillis()));
    }

    /** Who runs already may grow as long as the pool is open. */
    private boolean isOpen(Line line, Pool pool, long inMillis) {
        return line.surplus()
                ? pool.takesWork()
                : books.isOpen(
                        pool, inMillis, line.key().preemptible(), line.key().maxRuntimeMillis());
    }

    public Request request(Line line) {
        return line.request(
                () -> new Request(asked(line), line.numbersWanted(), line.key().path(), nodes(line)));
    }

    /** Whether the pool could take it with every known node up and empty. */
    public boolean couldEver(Line line, Wish wish) {
        return wish.couldEver(request(line));
    }

    /** Whether nodes that could take it, or fewer GPUs that it would start with, are known, and all of them are closed to new work of its tenant. */
    public boolean isOnlyForClosedNodes(Line line, Wish wish) {
        if (!wish.space().hasClosedNodes()) {
            return false;
        }
        return line.key().shape().gpus() instanceof GpuRequest.Whole whole && whole.takesFewer()
                ? wish.space().isOnlyForClosedNodes(fewer(line, whole.fewest()))
                : wish.isOnlyForClosedNodes(request(line));
    }

    /** Whether the pool could take it, or fewer GPUs that it would start with, with every known node up and empty. */
    public boolean couldEverStart(Line line, Wish wish) {
        return couldEver(line, wish)
                || line.key().shape().gpus() instanceof GpuRequest.Whole whole
                        && whole.takesFewer()
                        && wish.space().couldEver(fewer(line, whole.fewest()));
    }

    /** The least with which a line's head starts in a pool. */
    public Wish least(Line line, Wish wish) {
        return line.key().shape().gpus() instanceof GpuRequest.Whole whole && whole.takesFewer()
                ? fewer(line, wish, whole.fewest())
                : wish;
    }

    /** What a line's head asks of a pool when it asks for fewer GPUs of each worker. */
    public Wish fewer(Line line, Wish wish, int gpus) {
        return wish.with(wish.ask().with(wish.space().gpuMilliOf(GpuRequest.whole(gpus)) * line.workersOfHead()));
    }

    /** The same of devices. */
    public Request fewer(Line line, int gpus) {
        return request(line).with(line.key().shape().with(GpuRequest.whole(gpus)));
    }

    private Predicate<Node> nodes(Line line) {
        Optional<NodeId> only = line.key().only();
        return only.isPresent() ? node -> node.id().equals(only.get()) : besideTheOthers(line);
    }

    /** Surplus workers stay in the domain that the workload requires to be in, and in that of their slice. */
    private Predicate<Node> besideTheOthers(Line line) {
        if (!(line.head().state() instanceof WorkloadState.Holding holding)) {
            return node -> true;
        }
        Shape shape = line.key().shape();
        Allocation held = holding.allocation();
        if (shape.isPlain() && shape.requiredLevel().isEmpty() && shape.slice().isEmpty()) {
            return node -> true;
        }
        int number = line.numbersWanted().getFirst();
        Shape.WorkerSet set = shape.setOf(number);
        Allocation ofSet = new Allocation(held.pool(), set.of(held));
        Predicate<Node> beside =
                set.set().requiredLevel().map(level -> beside(ofSet, level)).orElse(node -> true);
        if (shape.together().isPresent()) {
            beside = beside.and(beside(held, shape.together().get()));
        }
        if (set.set().slice().isPresent()) {
            List<Allocation.Worker> ofSlice = ofSet.workers().stream()
                    .filter(worker -> set.sliceOf(worker.number()) == set.sliceOf(number))
                    .toList();
            beside = beside.and(beside(
                    new Allocation(held.pool(), ofSlice),
                    set.set().slice().get().level()));
        }
        return beside;
    }

    private Predicate<Node> beside(Allocation held, String level) {
        Pool pool = facts.pools().get(held.pool());
        int depth = pool == null ? 0 : pool.topologyLevels().indexOf(level) + 1;
        Optional<List<String>> domain = domain(held, depth);
        return node -> domain.isEmpty()
                || (node.topology().size() >= depth
                        && node.topology().subList(0, depth).equals(domain.get()));
    }

    private Optional<List<String>> domain(Allocation allocation, int depth) {
        for (Allocation.Worker worker : allocation.workers()) {
            if (worker.place() instanceof Allocation.Place.OnNode place) {
                Node node = facts.nodes().get(place.node());
                if (node != null && node.topology().size() >= depth) {
                    return Optional.of(node.topology().subList(0, depth));
                }
            }
        }
        return Optional.empty();
    }
}
