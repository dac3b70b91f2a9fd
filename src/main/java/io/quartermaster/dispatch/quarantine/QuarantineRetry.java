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
 * The entries of the quarantine that are due for another try. Each try is a turn of its own, with an engine of its own, apart from the plan of
 * what is well: all that is due together first, then less and less by halves. A try that fails costs nothing but its time: it is rolled back,
 * and the engine of the last plan goes on. What fails alone is put back, each time for twice as long.
 *
 * <p>A failed try counts only if a plan without these entries goes well right after it: else the cause is elsewhere, and nothing is put back. So
 * a try takes no other steps than those of its entries, and not more of them than that plan.
 * Tries take a fifth of the leader's time at most.
 *
 * <p>One thread.
 */
public final class QuarantineRetry {

    private static final Logger LOG = Logger.getLogger(QuarantineRetry.class);

    private static final Duration LOOK_EVERY = Duration.ofSeconds(1);

    /** After a try, the plan of what is well has so many times as long. */
    private static final int REST_PER_TRY = 4;

    /** Entries that are tried together at most. */
    private static final int MOST = 1_000;

    private static final String DUE = "set_aside_at is not null and ($1 or set_aside_until <= clock_timestamp())";

    /** A tenant, or a workload. */
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

    /** A new epoch: what leaders before set aside is tried again, for this version of the service may know what to do with it. */
    public void lead() {
        groups.clear();
        everything = true;
        nextTryNanos = System.nanoTime();
    }

    /** At the beginning of each turn: a new leader looks for what is set aside before it sets aside anything itself. */
    public void begin() {
        if (everything) {
            look(true);
        }
    }

    /** Looks for entries whose time has come, if it did not just now. */
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

    /** Whether a try is to be made now. */
    public boolean isDue() {
        return !groups.isEmpty() && System.nanoTime() - nextTryNanos >= 0;
    }

    /** @param all whether due or not; else those that are due, and so many at most: the others are still due at the next look */
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

    /** Takes back what is to be tried now. Returns whether any of it is still set aside. */
    public boolean takeBack(SystemTransaction transaction, Fence fence) {
        String[] tenants = tenants().stream().map(TenantId::value).toArray(String[]::new);
        boolean any = QuarantinedTenants.takeBack(transaction, tenants);
        return QuarantinedWorkloads.takeBack(transaction, fence, settings.cell(), CellReader.array(workloads())) || any;
    }

    /** After a try that began then, however it went. */
    public void rest(long begunNanos) {
        long tookNanos = System.nanoTime() - begunNanos;
        noneFor(Duration.ofNanos(REST_PER_TRY * tookNanos));
    }

    /** No try is made for so long at least. */
    public void noneFor(Duration rest) {
        long atNanos = System.nanoTime() + rest.toNanos();
        nextTryNanos = atNanos - nextTryNanos > 0 ? atNanos : nextTryNanos;
    }

    /** The try went well, or nothing of it was set aside any more. */
    public void succeeded() {
        groups.removeFirst();
    }

    /** The try failed, and the plan without what was tried did not. */
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
                            "%s stays set aside until %s: the plan that included it failed: %s",
                            entry, until, cause.toString());
                });
                return true;
            });
        } catch (RuntimeException e) {
            LOG.warnf("%s is still due for another try: %s", entry, e.getMessage());
        }
    }

    /** The tenants of what is tried now. */
    public Set<TenantId> tenants() {
        Set<TenantId> found = new TreeSet<>();
        for (Entry entry : groups.getFirst()) {
            if (entry instanceof Entry.OfTenant(TenantId tenant)) {
                found.add(tenant);
            }
        }
        return found;
    }

    /** The workloads of what is tried now, without those of its tenants. */
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
