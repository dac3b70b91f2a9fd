package io.quartermaster.access;

import io.quarkus.scheduler.Scheduled;
import io.quartermaster.platform.SharedCall;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The issuers whose tokens are verified: the operator's realm and those of active and suspended tenants. The directory
 * is kept in memory, so that a token of any other issuer causes no outgoing call. A miss reads the table {@code tenant}
 * again, at most once a second, however many tokens miss.
 *
 * <p>The directory is one immutable value that is replaced as a whole; any thread may read it.
 */
@ApplicationScoped
public class IssuerDirectory {

    private static final Logger LOG = Logger.getLogger(IssuerDirectory.class);
    private static final long MIN_RELOAD_INTERVAL_NANOS = 1_000_000_000L;

    /** The status of a tenant, which decides what its tokens permit. */
    enum TenantStatus {
        /** Offboarded: its tokens are invalid, and only the operator reads the data that outlives it. */
        DELETED,
        /** Not active yet, or being offboarded: its tokens are invalid. The operator sees it. */
        CLOSED,
        /** Its tokens are valid for reading. */
        SUSPENDED,
        ACTIVE
    }

    /**
     * @param realms the realms whose tokens are valid, by exact issuer
     * @param tenants all tenants that ever existed, in any state
     */
    private record Directory(Map<String, Realm> realms, Map<TenantId, TenantStatus> tenants, long readAtNanos) {
        Directory {
            realms = Map.copyOf(realms);
            tenants = Map.copyOf(tenants);
        }
    }

    private final SystemDatabase database;
    private final IdentityConfig config;
    private final OperatorTokens operatorTokens;
    private final AtomicReference<@Nullable Directory> directory = new AtomicReference<>();
    private final AtomicReference<@Nullable SharedCall<Directory>> runningQuery = new AtomicReference<>();

    IssuerDirectory(SystemDatabase database, IdentityConfig config, OperatorTokens operatorTokens) {
        this.operatorTokens = operatorTokens;
        this.database = database;
        this.config = config;
    }

    /**
     * The realm of exactly this issuer, if its tokens are valid. Fails when the directory cannot be read at all, and
     * for the operator's issuer while it is unknown whether its tokens are valid.
     */
    public Uni<Optional<Realm>> find(String issuer) {
        if (issuer.equals(config.issuerOf(Realm.OPERATOR_NAME))) {
            return operatorTokens
                    .areAccepted()
                    .map(accepted -> accepted ? Optional.of(new Realm.Operator()) : Optional.empty());
        }
        return lookUp(known -> Optional.ofNullable(known.realms().get(issuer)));
    }

    /** The status of this tenant; empty if it never existed. */
    Uni<Optional<TenantStatus>> tenantStatus(TenantId tenant) {
        return lookUp(known -> Optional.ofNullable(known.tenants().get(tenant)));
    }

    private <T> Uni<Optional<T>> lookUp(Function<Directory, Optional<T>> question) {
        Directory known = directory.get();
        if (known != null) {
            Optional<T> hit = question.apply(known);
            if (hit.isPresent() || System.nanoTime() - known.readAtNanos() < MIN_RELOAD_INTERVAL_NANOS) {
                return Uni.createFrom().item(hit);
            }
        }
        return CallerContextSwitch.resume(refresh()).map(question);
    }

    /** Concurrent calls share one query. */
    private Uni<Directory> refresh() {
        SharedCall<Directory> mine = new SharedCall<>(database.on(connection ->
                        connection.query("select id, issuer, state from tenant").execute())
                .map(this::read)
                .invoke(directory::set)
                .onTermination()
                .invoke(() -> runningQuery.set(null)));
        SharedCall<Directory> shared = runningQuery.compareAndExchange(null, mine);
        return (shared == null ? mine : shared).answer();
    }

    /** Reads the table again. Call it after a change of a tenant's state has been committed. */
    public Uni<Void> reload() {
        // A query that began before the change may have missed it: wait for it, then read once more.
        SharedCall<Directory> running = runningQuery.get();
        Uni<Directory> fresh = running == null
                ? refresh()
                : running.answer().onFailure().recoverWithNull().chain(this::refresh);
        return CallerContextSwitch.resume(fresh.replaceWithVoid());
    }

    @Scheduled(
            every = "${quartermaster.identity.issuer-refresh:5s}",
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
        Map<String, Realm> realms = new HashMap<>();
        Map<TenantId, TenantStatus> tenants = new HashMap<>();
        for (Row row : rows) {
            TenantId id = new TenantId(row.getString("id"));
            TenantStatus status = tenantStatus(row.getString("state"));
            tenants.put(id, status);
            if (status == TenantStatus.ACTIVE || status == TenantStatus.SUSPENDED) {
                realms.put(row.getString("issuer"), new Realm.Tenant(id));
            }
        }
        return new Directory(realms, tenants, System.nanoTime());
    }

    private static TenantStatus tenantStatus(String state) {
        return switch (state) {
            case "active" -> TenantStatus.ACTIVE;
            case "suspended" -> TenantStatus.SUSPENDED;
            case "deleted" -> TenantStatus.DELETED;
            default -> TenantStatus.CLOSED;
        };
    }
}
