package io.quartermaster.ledger;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * The book of one tenant: it applies the tenant's usage events in order and returns segments for all pools.
 *
 * <p>A segment is final once {@link #close} has closed its hour. Until then {@link #provisionalSegments} returns only a
 * preview, as the late report of a lost node may still change a phase. Events later than an hour's end may be applied
 * before that hour is closed. They must be, if they reach back into it.
 *
 * <p>An event costs O(log n) for n live allocations, and O(log n) more for each allocation whose fill it changes. Not
 * thread-safe: only the code that created a book uses it.
 */
public final class Book {
    private static final PostingResult POSTED = new PostingResult.Posted();

    private final TenantKey tenant;
    private final long hourMillis;
    private final TreeMap<PoolKey, PoolAccount> accounts = new TreeMap<>();
    private final TreeMap<AllocationId, Holding> holdings = new TreeMap<>();
    private long closedUntilMillis;
    private long lastAtMillis;
    private long lastSeq;

    private Book(BookState state) {
        tenant = state.tenant();
        hourMillis = state.hourMillis();
        closedUntilMillis = state.closedUntilMillis();
        lastAtMillis = state.atMillis();
        lastSeq = state.seq();
    }

    /** An empty book whose hours have the usual length. */
    public static Book empty(TenantKey tenant) {
        return empty(tenant, BookState.HOUR_MILLIS);
    }

    /** An empty book whose hours have another length, for histories counted tick by tick. */
    public static Book empty(TenantKey tenant, long hourMillis) {
        return new Book(BookState.empty(tenant, hourMillis));
    }

    /**
     * Rebuilds the book that returned this state.
     *
     * @throws IllegalArgumentException if the state contradicts itself. No book returns such a state, so it was
     *     modified
     */
    public static Book resume(BookState state) {
        Book book = new Book(state);
        for (BookState.PoolState pool : state.pools()) {
            PoolAccount account = PoolAccountStates.account(pool);
            book.accounts.put(pool.pool(), account);
            account.holdings().forEach(holding -> book.holdings.put(holding.allocation, holding));
        }
        return book;
    }

    public BookState state() {
        return new BookState(
                BookState.FORMAT,
                tenant,
                hourMillis,
                closedUntilMillis,
                lastAtMillis,
                lastSeq,
                accounts.values().stream().map(PoolAccountStates::state).toList());
    }

    /** Applies the next event of the stream, or refuses it and changes nothing. */
    public PostingResult apply(UsageEvent event) {
        if (!event.tenant().equals(tenant)) {
            return new PostingResult.OtherTenant(event, tenant);
        }
        if (event.atMillis() < lastAtMillis || (event.atMillis() == lastAtMillis && event.seq() <= lastSeq)) {
            return new PostingResult.NotLater(event, lastAtMillis, lastSeq);
        }
        if (event.atMillis() < closedUntilMillis) {
            return new PostingResult.HourClosed(event, event.atMillis(), closedUntilMillis);
        }
        PostingResult postingResult = post(event);
        if (postingResult instanceof PostingResult.Posted) {
            lastAtMillis = event.atMillis();
            lastSeq = event.seq();
        }
        return postingResult;
    }

    private PostingResult post(UsageEvent event) {
        return switch (event) {
            case UsageEvent.Allocated allocated -> allocate(allocated);
            case UsageEvent.PhaseChanged changed -> changePhase(changed);
            case UsageEvent.Freed freed -> free(freed);
            case UsageEvent.TenantReserved reserved -> {
                account(reserved.pool()).reserveForTenant(reserved.atMillis(), reserved.gpuMilli());
                yield POSTED;
            }
            case UsageEvent.PolicyReserved reserved -> {
                account(reserved.pool()).reserveForPolicy(reserved.atMillis(), reserved.policy(), reserved.gpuMilli());
                yield POSTED;
            }
            case UsageEvent.Unmet unmet -> {
                account(unmet.pool()).recordUnmet(unmet.atMillis(), unmet.gpuMilli());
                yield POSTED;
            }
        };
    }

    private PostingResult allocate(UsageEvent.Allocated event) {
        if (holdings.containsKey(event.allocation())) {
            return new PostingResult.DuplicateAllocation(event, event.allocation());
        }
        Holding holding =
                new Holding(event.allocation(), event.pool(), event.gpuMilli(), event.atMillis(), event.marks());
        holding.phases.set(event.atMillis(), Phase.STARTING);
        holdings.put(event.allocation(), holding);
        account(event.pool()).allocate(event.atMillis(), holding);
        return POSTED;
    }

    private PostingResult changePhase(UsageEvent.PhaseChanged event) {
        Holding holding = holdings.get(event.allocation());
        if (holding == null || !holding.isLive()) {
            return new PostingResult.UnknownAllocation(event, event.allocation());
        }
        long sinceMillis = Math.max(event.sinceMillis(), holding.startMillis);
        if (sinceMillis < closedUntilMillis) {
            return new PostingResult.HourClosed(event, sinceMillis, closedUntilMillis);
        }
        holding.phases.set(sinceMillis, event.phase());
        return POSTED;
    }

    private PostingResult free(UsageEvent.Freed event) {
        Holding holding = holdings.get(event.allocation());
        if (holding == null || !holding.isLive()) {
            return new PostingResult.UnknownAllocation(event, event.allocation());
        }
        if (account(holding.pool).free(event.atMillis(), closedUntilMillis, holding)) {
            holdings.remove(holding.allocation);
        }
        return POSTED;
    }

    private PoolAccount account(PoolKey pool) {
        return accounts.computeIfAbsent(pool, PoolAccount::new);
    }

    /**
     * Closes all hours up to {@code hourEndMillis} and returns their segments, in {@link Segment#ORDER}. A running
     * allocation's segment is cut there. The caller guarantees that no later event concerns that time; the book refuses
     * such an event.
     *
     * @throws IllegalArgumentException if the instant is not the end of an hour that is still open
     */
    public List<Segment> close(long hourEndMillis) {
        if (hourEndMillis % hourMillis != 0 || hourEndMillis <= closedUntilMillis) {
            throw new IllegalArgumentException(
                    "not the end of an hour after " + closedUntilMillis + ": " + hourEndMillis);
        }
        List<Segment> closed = provisionalSegments(hourEndMillis);
        closedUntilMillis = hourEndMillis;
        List<AllocationId> dropped = new ArrayList<>();
        accounts.values().forEach(account -> account.dropBefore(hourEndMillis, dropped));
        accounts.values().removeIf(PoolAccount::isEmpty);
        dropped.forEach(holdings::remove);
        return closed;
    }

    /**
     * The provisional segments from the last closed hour to {@code nowMillis}, in {@link Segment#ORDER}. A running
     * allocation's segment is cut there. Changes nothing.
     */
    public List<Segment> provisionalSegments(long nowMillis) {
        List<Segment> segments = new ArrayList<>();
        for (PoolAccount account : accounts.values()) {
            account.forEachSegment(tenant, nowMillis, segment -> cutAtHours(segment, segments));
        }
        segments.sort(Segment.ORDER);
        return List.copyOf(segments);
    }

    private void cutAtHours(Segment segment, List<Segment> cut) {
        long from = segment.fromMillis();
        while (from < segment.toMillis()) {
            long to = Math.min(segment.toMillis(), from - from % hourMillis + hourMillis);
            cut.add(segment.between(from, to));
            from = to;
        }
    }

    public TenantKey tenant() {
        return tenant;
    }

    public long hourMillis() {
        return hourMillis;
    }

    /** Segments before this instant are final. */
    public long closedUntilMillis() {
        return closedUntilMillis;
    }
}
