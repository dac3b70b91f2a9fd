package io.quartermaster.dispatch.quarantine;

import io.quartermaster.dispatch.read.CellReader;
import io.quartermaster.dispatch.read.LeaderSettings;
import io.quartermaster.dispatch.read.QuarantinedTenants;
import io.quartermaster.dispatch.read.QuarantinedWorkloads;
import io.quartermaster.dispatch.transaction.Fence;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.platform.db.SystemTransaction;
import io.vertx.mutiny.sqlclient.Row;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.jboss.logging.Logger;

/**
 * The retries of quarantine entries that are due. Each retry is a cycle of its own, with its own engine, apart from the
 * plan without the entries. It begins with all entries that are due, and halves them after each failure. A failed retry
 * costs only its time: it is rolled back, and the engine of the last plan stays in use. An entry that fails alone goes
 * back to the quarantine, each time for twice as long.
 *
 * <p>A failed retry counts only if a plan without these entries succeeds right after it. Otherwise the cause is
 * elsewhere, and no entry goes back. So a retry takes only the lifecycle steps of its entries, and not more of them
 * than that plan. Retries take at most a fifth of the leader's time.
 *
 * <p>Single-threaded.
 */
public final class QuarantineRetry {

    private static final Logger LOG = Logger.getLogger(QuarantineRetry.class);

    private static final Duration POLL_INTERVAL = Duration.ofSeconds(1);

    /** After a retry, the normal plans get this many times its duration. */
    private static final int PAUSE_FACTOR = 4;

    /** The most entries that one retry includes. */
    private static final int MAX_ENTRIES = 1_000;

    private static final String DUE = "set_aside_at is not null and ($1 or set_aside_until <= clock_timestamp())";

    /** A tenant or a workload. */
    sealed interface Entry {

        record OfTenant(TenantId tenant) implements Entry {}

        record OfWorkload(UUID workload) implements Entry {}
    }

    private final SystemDatabase database;
    private final LeaderSettings settings;

    private final Deque<List<Entry>> groups = new ArrayDeque<>();
    private boolean readsAll;
    private long lastPollNanos = System.nanoTime() - POLL_INTERVAL.toNanos();
    private long nextRetryNanos = System.nanoTime();

    public QuarantineRetry(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /** Begins an epoch: entries of earlier leaders are retried, because this version of the service may handle them. */
    public void beginTerm() {
        groups.clear();
        readsAll = true;
        nextRetryNanos = System.nanoTime();
    }

    /** Begins a cycle. A new leader reads the quarantine before it quarantines anything itself. */
    public void beginCycle() {
        if (readsAll) {
            poll(true);
        }
    }

    /** Looks for due entries, unless it did so a moment ago. */
    public void poll() {
        if (groups.isEmpty() && System.nanoTime() - lastPollNanos >= POLL_INTERVAL.toNanos()) {
            poll(false);
        }
    }

    private void poll(boolean all) {
        lastPollNanos = System.nanoTime();
        List<Entry> due = database.run(settings.bounds(), tx -> read(tx, all));
        readsAll = false;
        for (int from = 0; from < due.size(); from += MAX_ENTRIES) {
            groups.add(List.copyOf(due.subList(from, Math.min(from + MAX_ENTRIES, due.size()))));
        }
    }

    /** Whether a retry is due now. */
    public boolean isDue() {
        return !groups.isEmpty() && System.nanoTime() - nextRetryNanos >= 0;
    }

    /**
     * @param all whether to read all entries, due or not. Otherwise it reads the due ones up to a limit; the next look
     *     reads the others
     */
    private static List<Entry> read(SystemTransaction transaction, boolean all) {
        List<Entry> due = new ArrayList<>();
        long max = all ? Long.MAX_VALUE : MAX_ENTRIES;
        for (Row row : transaction.run("select id from tenant where " + DUE + " order by id limit $2", all, max)) {
            due.add(new Entry.OfTenant(new TenantId(row.getString("id"))));
        }
        for (Row row : transaction.run(
                "select id from workload where " + DUE + " order by seq limit $2", all, max - due.size())) {
            due.add(new Entry.OfWorkload(row.getUUID("id")));
        }
        return due;
    }

    /** Takes the entries of the retry out of the quarantine. Returns whether any of them was still in it. */
    public boolean release(SystemTransaction transaction, Fence fence) {
        String[] tenants = tenants().stream().map(TenantId::value).toArray(String[]::new);
        boolean any = QuarantinedTenants.release(transaction, tenants);
        return QuarantinedWorkloads.release(transaction, fence, settings.cell(), CellReader.array(workloads())) || any;
    }

    /** Starts the rest after a retry that began at this time, whatever its result. */
    public void pauseAfter(long begunNanos) {
        long tookNanos = System.nanoTime() - begunNanos;
        postpone(Duration.ofNanos(PAUSE_FACTOR * tookNanos));
    }

    /** Allows no retry for at least this time. */
    public void postpone(Duration rest) {
        long atNanos = System.nanoTime() + rest.toNanos();
        nextRetryNanos = atNanos - nextRetryNanos > 0 ? atNanos : nextRetryNanos;
    }

    /** Records that the retry succeeded, or that none of its entries was in the quarantine any more. */
    public void recordSuccess() {
        groups.removeFirst();
    }

    /** Records that the retry failed, and that the plan without its entries succeeded. */
    public void recordFailure(long epoch, Throwable cause) {
        List<Entry> group = groups.removeFirst();
        if (group.size() == 1) {
            requarantine(epoch, group.getFirst(), cause);
        } else {
            int middle = group.size() / 2;
            groups.addFirst(List.copyOf(group.subList(middle, group.size())));
            groups.addFirst(List.copyOf(group.subList(0, middle)));
        }
    }

    private void requarantine(long epoch, Entry entry, Throwable cause) {
        try {
            database.run(settings.bounds(), tx -> {
                settings.fence(tx, epoch).ifPresent(fence -> {
                    String until =
                            switch (entry) {
                                case Entry.OfTenant(TenantId tenant) ->
                                    QuarantinedTenants.requarantine(tx, fence, tenant);
                                case Entry.OfWorkload(UUID workload) ->
                                    QuarantinedWorkloads.requarantine(tx, fence, workload);
                            };
                    LOG.warnf(
                            "%s stays in quarantine until %s: the plan that included it failed: %s",
                            entry, until, cause.toString());
                });
                return true;
            });
        } catch (RuntimeException e) {
            LOG.warnf("%s is still due for a retry: %s", entry, e.getMessage());
        }
    }

    /** The tenants of the current retry. */
    public Set<TenantId> tenants() {
        Set<TenantId> found = new TreeSet<>();
        for (Entry entry : groups.getFirst()) {
            if (entry instanceof Entry.OfTenant(TenantId tenant)) {
                found.add(tenant);
            }
        }
        return found;
    }

    /** The workloads of the current retry, except those that belong to its tenants. */
    public Set<UUID> workloads() {
        Set<UUID> found = new TreeSet<>();
        for (Entry entry : groups.getFirst()) {
            if (entry instanceof Entry.OfWorkload(UUID workload)) {
                found.add(workload);
            }
        }
        return found;
    }
}
