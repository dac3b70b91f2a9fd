package io.quartermaster.insight;

import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.PoolShareSource;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.ShareExplanation;
import io.quartermaster.platform.GpuAmount;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Fair shares from this replica's view of the cell. */
@ApplicationScoped
class ShareService implements PoolShareSource {

    private final CellQueryExecutor cell;

    ShareService(CellQueryExecutor cell) {
        this.cell = cell;
    }

    /**
     * @param group path of the group; absent: the tenant itself
     * @param pool only this pool; absent: all pools
     */
    Uni<ShareApi.View> explain(TenantId tenant, @Nullable String group, @Nullable String pool) {
        QuotaPath path = path(tenant, group);
        return cell.query(view -> new ShareApi.View(
                path.group(),
                Instant.ofEpochMilli(view.snapshot().asOfMillis()),
                view.shares(path).stream()
                        .map(share -> new ShareApi.PoolShare(share.scope().toString(), new ShareText(share).levels()))
                        .filter(share -> pool == null || pool.equals(share.pool()))
                        .toList()));
    }

    private static QuotaPath path(TenantId tenant, @Nullable String group) {
        if (group == null || group.equals("/")) {
            return QuotaPath.of(tenant.value());
        }
        GroupPath.refusal(group).ifPresent(why -> {
            throw ProblemException.invalid("group", why, GroupPath.ACCEPTED);
        });
        return QuotaPath.parse(tenant.value() + group);
    }

    @Override
    public Uni<Map<String, Share>> sharesOf(TenantId tenant) {
        return cell.queryIfFree(view -> {
                    Map<String, Share> shares = new HashMap<>();
                    for (ShareExplanation explanation : view.shares(QuotaPath.of(tenant.value()))) {
                        if (explanation.scope() instanceof Scope.OnePool(PoolId pool)) {
                            ShareExplanation.Branch own =
                                    explanation.levels().getFirst().branch();
                            shares.put(
                                    pool.value(),
                                    new Share(new GpuAmount(own.usedGpuMilli()), new GpuAmount(own.fairGpuMilli())));
                        }
                    }
                    return shares;
                })
                .map((Optional<Map<String, Share>> known) -> known.orElse(Map.of()));
    }
}
