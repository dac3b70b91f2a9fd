package io.quartermaster.platform.operations;

import io.quarkus.arc.All;
import io.quartermaster.platform.db.Retention;
import io.quartermaster.platform.db.RetentionSource;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;

/**
 * How long ended operations and their findings are kept. The tenant's last operation of each kind stays: it shows how
 * the tenant was created, and a repeated request continues it.
 */
@ApplicationScoped
class OperationRetention implements RetentionSource {

    private static final String OVER = """
            o.kind = '%s' and o.state in ('succeeded', 'failed')
               and exists (select 1 from operation newer
                            where newer.tenant_id = o.tenant_id and newer.kind = o.kind and newer.id > o.id)
            """;

    private static final String DELETE = """
            with deleted as (
                delete from operation where ctid = any (array(
                    select o.ctid from operation o where o.updated_at >= $1 and o.updated_at < $2 and %s
                     order by o.updated_at limit $3 for update of o skip locked))
                returning updated_at)
            select count(*) as rows, count(*) as deleted, max(updated_at) as latest from deleted
            """;

    private static final String OLDEST =
            "select o.updated_at as oldest from operation o where %s order by o.updated_at limit 1";

    private final OperationsConfig config;
    private final List<OperationHandler> handlers;

    OperationRetention(OperationsConfig config, @All List<OperationHandler> works) {
        this.config = config;
        this.handlers = List.copyOf(works);
    }

    @Override
    public List<Retention> retentions() {
        return handlers.stream().map(this::retention).toList();
    }

    /** The rule for one kind. Kinds are constants of the program, so they go into the statement unescaped. */
    private Retention retention(OperationHandler work) {
        String over = OVER.formatted(work.kind());
        return new Retention(
                "operation." + work.kind(),
                work.retention().orElse(config.kept()),
                DELETE.formatted(over),
                OLDEST.formatted(over));
    }
}
