package io.quartermaster.tenancy.origins;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.scheduler.Scheduled;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.jboss.logging.Logger;

/**
 * The origins that each tenant allows, in memory: browsers send preflights without a token, so these must not cause
 * work elsewhere.
 *
 * <p>The directory is one immutable value that is replaced as a whole; any thread may read it.
 */
@ApplicationScoped
class OriginDirectory {

    private static final Logger LOG = Logger.getLogger(OriginDirectory.class);
    private static final TypeReference<Set<String>> TEXTS = new TypeReference<>() {};

    private final SystemDatabase database;
    private final ObjectMapper json;
    private final AtomicLong readCount = new AtomicLong();
    private volatile Snapshot current = new Snapshot(0, Map.of());

    /** @param number the rank of the reading, in the order in which readings began */
    private record Snapshot(long number, Map<String, Set<String>> byTenant) {}

    OriginDirectory(SystemDatabase database, ObjectMapper json) {
        this.database = database;
        this.json = json;
    }

    /** @param tenant as sent; an unknown tenant allows no origin */
    boolean allows(String tenant, String origin) {
        return current.byTenant().getOrDefault(tenant, Set.of()).contains(origin);
    }

    /** Reads the table again. Call it after a change of the table has been committed. */
    Uni<Void> reload() {
        return Uni.createFrom().deferred(() -> read(readCount.incrementAndGet()));
    }

    /** Reads the table. A reading never replaces one that began later: it may have missed a change. */
    private Uni<Void> read(long number) {
        return database.on(connection -> connection
                        .query("select o.tenant_id, o.origins::text from allowed_origins o join tenant t on t.id "
                                + "= o.tenant_id where t.state in ('active', 'suspended')")
                        .execute())
                .invoke(rows -> {
                    Map<String, Set<String>> read = new HashMap<>();
                    for (Row row : rows) {
                        read.put(new TenantId(row.getString(0)).value(), origins(row.getString(1)));
                    }
                    adopt(new Snapshot(number, Map.copyOf(read)));
                })
                .replaceWithVoid();
    }

    private synchronized void adopt(Snapshot reading) {
        if (reading.number() > current.number()) {
            current = reading;
        }
    }

    @Scheduled(
            every = "${quartermaster.tenancy.origins-refresh:5s}",
            concurrentExecution = Scheduled.ConcurrentExecution.SKIP)
    Uni<Void> reloadRegularly() {
        return reload().onFailure()
                .invoke(e -> LOG.warnf("the allowed origins could not be read: %s", e.getMessage()))
                .onFailure()
                .recoverWithNull();
    }

    private Set<String> origins(String text) {
        try {
            return Set.copyOf(json.readValue(text, TEXTS));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("stored origins cannot be read", e);
        }
    }
}
