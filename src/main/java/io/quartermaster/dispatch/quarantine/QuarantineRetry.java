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

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    /** After a retry, the normal plans get this many times its duration. */
    private static final int REST_PER_TRY = 4;

    /** The most entries that one retry includes. */
    private static final int MOST = 1_000;

    private static final String DUE = "set_aside_at is not null and ($1 or set_aside_until <= clock_timestamp())";

    /** A tenant or a workload. */
    sealed interface Entry {

        record OfTenant(TenantId tenant) implements Entry {}

        record OfWorkload(UUID workload) implements Entry {}
    }

    private final SystemDatabase database;
    private final LeaderSettings settings;

    private final Deque<List<Entry>> groups = new ArrayDeque<>();
    private boolean everything;
    private long lookedNanos = System.nanoTime() - LOOK_EVERY.toNanos();
    private long nextTryNanos = System.nanoTime();

    public QuarantineRetry(SystemDatabase database, LeaderSettings settings) {
        this.database = database;
        this.settings = settings;
    }

    /** Begins an epoch: entries of earlier leaders are retried, because this version of the service may handle them. */
    public void lead() {
        groups.clear();
        everything = true;
        nextTryNanos = System.nanoTime();
    }

    /** Begins a cycle. A new leader reads the quarantine before it quarantines anything itself. */
    public void begin() {
        if (everything) {
            look(true);
        }
    }

    /** Looks for due entries, unless it did so a moment ago. */
    public void look() {
        if (groups.isEmpty() && System.nanoTime() - lookedNanos >= LOOK_EVERY.toNanos()) {
            look(false);
        }
    }

    private void look(boolean all) {
        lookedNanos = System.nanoTime();
        List<Entry> due = database.run(settings.bounds(), tx -> read(tx, all));
        everything = false;
        for (int from = 0; from < due.size(); from += MOST) {
            groups.add(List.copyOf(due.subList(from, Math.min(from + MOST, due.size()))));
        }
    }

    /** Whether a retry is due now. */
    public boolean isDue() {
        return !groups.isEmpty() && System.nanoTime() - nextTryNanos >= 0;
    }

    /**
     * @param all whether to read all entries, due or not. Otherwise it reads the due ones up to a limit; the next look
     *     reads the others
     */
    private static List<Entry> read(SystemTransaction transaction, boolean all) {
        List<Entry> due = new ArrayList<>();
        long most = all ? Long.MAX_VALUE : MOST;
        for (Row row : transaction.run("select id from tenant where " + DUE + " order by id limit $2", all, most)) {
            due.add(new Entry.OfTenant(new TenantId(row.getString("id"))));
        }
        for (Row row : transaction.run(
                "select id from workload where " + DUE + " order by seq limit $2", all, most - due.size())) {
            due.add(new Entry.OfWorkload(row.getUUID("id")));
        }
        return due;
    }

    /** Takes the entries of the retry out of the quarantine. Returns whether any of them was still in it. */
    public boolean takeBack(SystemTransaction transaction, Fence fence) {
        String[] tenants = tenants().stream().map(TenantId::value).toArray(String[]::new);
        boolean any = QuarantinedTenants.takeBack(transaction, tenants);
        return QuarantinedWorkloads.takeBack(transaction, fence, settings.cell(), CellReader.array(workloads())) || any;
    }

    /** Starts the rest after a retry that began at this time, whatever its result. */
    public void rest(long begunNanos) {
        long tookNanos = System.nanoTime() - begunNanos;
        noneFor(Duration.ofNanos(REST_PER_TRY * tookNanos));
    }

    /** Allows no retry for at least this time. */
    public void noneFor(Duration rest) {
        long atNanos = System.nanoTime() + rest.toNanos();
        nextTryNanos = atNanos - nextTryNanos > 0 ? atNanos : nextTryNanos;
    }

    /** Records that the retry succeeded, or that none of its entries was in the quarantine any more. */
    public void succeeded() {
        groups.removeFirst();
    }

    /** Records that the retry failed, and that the plan without its entries succeeded. */
    public void failed(long epoch, Throwable cause) {
        List<Entry> group = groups.removeFirst();
        if (group.size() == 1) {
            putBack(epoch, group.getFirst(), cause);
        } else {
            int middle = group.size() / 2;
            groups.addFirst(List.copyOf(group.subList(middle, group.size())));
            groups.addFirst(List.copyOf(group.subList(0, middle)));
        }
    }

    private void putBack(long epoch, Entry entry, Throwable cause) {
        try {
            database.run(settings.bounds(), tx -> {
                settings.fence(tx, epoch).ifPresent(fence -> {
                    String until =
                            switch (entry) {
                                case Entry.OfTenant(TenantId tenant) -> QuarantinedTenants.putBack(tx, fence, tenant);
                                case Entry.OfWorkload(UUID workload) ->
                                    QuarantinedWorkloads.putBack(tx, fence, workload);
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
