package io.quartermaster.platform.writes;

import io.quartermaster.platform.db.Retention;
import io.quartermaster.platform.db.RetentionSource;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.List;

/** How long answers to idempotency keys are kept. */
@ApplicationScoped
class IdempotencyRetention implements RetentionSource {

    private static final String DELETE = """
            with deleted as (
                delete from idempotency where ctid = any (array(
                    select ctid from idempotency where created_at >= $1 and created_at < $2
                     order by created_at limit $3 for update skip locked))
                returning created_at)
            select count(*) as rows, count(*) as deleted, max(created_at) as latest from deleted
            """;

    private static final String OLDEST = "select min(created_at) as oldest from idempotency";

    private final IdempotencyConfig config;

    IdempotencyRetention(IdempotencyConfig config) {
        this.config = config;
    }

    @Override
    public List<Retention> retentions() {
        return List.of(new Retention("idempotency", config.kept(), DELETE, OLDEST));
    }
}
