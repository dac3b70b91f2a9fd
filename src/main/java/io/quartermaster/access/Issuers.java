package io.quartermaster.access;

import io.quarkus.scheduler.Scheduled;
import io.quartermaster.platform.SystemDatabase;
import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The issuers whose tokens are looked at: the operator's realm and those of active tenants. Kept in memory, so that a token of any other
 * issuer costs no outgoing call; a miss reads the table {@code tenant} again, at most once a second, however many tokens miss.
 *
 * <p>The directory is one immutable value that is replaced as a whole; any thread may read it.
 */
@ApplicationScoped
public class Issuers {

    private static final Logger LOG = Logger.getLogger(Issuers.class);
    private static final long RELOAD_NANOS = 1_000_000_000L;

    /** @param active by exact issuer, the realms whose tokens count; {@code tenants} are all that exist, suspended ones too */
    private record Directory(Map<String, Realm> active, Set<TenantId> tenants, long readAtNanos) {
        Directory {
            active = Map.copyOf(active);
            tenants = Set.copyOf(tenants);
        }
    }

    private final SystemDatabase database;
    private final IdentityConfig config;
    private final AtomicReference<@Nullable Directory> directory = new AtomicReference<>();
    private final AtomicReference<@Nullable Uni<Directory>> reading = new AtomicReference<>();

    Issuers(SystemDatabase database, IdentityConfig config) {
        this.database = database;
        this.config = config;
    }

    /** The realm of exactly this issuer, if its tokens count. Fails when the directory cannot be read at all. */
    public Uni<Optional<Realm>> find(String issuer) {
        if (issuer.equals(config.issuerOf(Realm.OPERATOR_NAME))) {
            return Uni.createFrom().item(Optional.of(new Realm.Operator()));
        }
        return lookUp(known -> Optional.ofNullable(known.active().get(issuer)));
    }

    /** Whether there is such a tenant, in whatever state. */
    public Uni<Boolean> knows(TenantId tenant) {
        return lookUp(known -> known.tenants().contains(tenant) ? Optional.of(tenant) : Optional.empty())
                .map(Optional::isPresent);
    }

    private <T> Uni<Optional<T>> lookUp(Function<Directory, Optional<T>> question) {
        Directory known = directory.get();
        if (known != null) {
            Optional<T> hit = question.apply(known);
            if (hit.isPresent() || System.nanoTime() - known.readAtNanos() < RELOAD_NANOS) {
                return Uni.createFrom().item(hit);
            }
        }
        return CallerContext.resume(refresh()).map(question);
    }

    /** Calls at one time share one query. */
    private Uni<Directory> refresh() {
        Uni<Directory> mine = database.on(connection -> connection
                        .query("select id, issuer, state from tenant where state <> 'deleted'")
                        .execute())
                .map(this::read)
                .invoke(directory::set)
                .onTermination()
                .invoke(() -> reading.set(null))
                .memoize()
                .indefinitely();
        Uni<Directory> shared = reading.compareAndExchange(null, mine);
        return shared == null ? mine : shared;
    }

    /** Reads the table again; to be called after a change of a tenant's state has been committed. */
    public Uni<Void> reload() {
        // A reading that began before the change may have missed it: wait for it, then read once more.
        Uni<Directory> running = reading.get();
        Uni<Directory> fresh = running == null
                ? refresh()
                : running.onFailure().recoverWithNull().chain(this::refresh);
        return CallerContext.resume(fresh.replaceWithVoid());
    }

    @Scheduled(
            every = "${quartermaster.identity.issuer-refresh:5S}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> refreshRegularly() {
        return refresh()
                .replaceWithVoid()
                .onFailure()
                .invoke(e -> LOG.warnf("the list of tenants could not be read: %s", e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }

    private Directory read(RowSet<Row> rows) {
        Map<String, Realm> active = new HashMap<>();
        Set<TenantId> tenants = new HashSet<>();
        for (Row row : rows) {
            TenantId id = new TenantId(row.getString("id"));
            tenants.add(id);
            if (row.getString("state").equals("active")) {
                active.put(row.getString("issuer"), new Realm.Tenant(id));
            }
        }
        return new Directory(active, tenants, System.nanoTime());
    }
}
