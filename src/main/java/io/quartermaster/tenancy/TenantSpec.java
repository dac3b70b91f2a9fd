package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.platform.TenantId;
import java.util.List;

/** A tenant as it was asked for. Kept with its operation, so that the same request can be told from another one of the same id. */
public record TenantSpec(TenantId id, String displayName, String plan, List<GroupPath> groups) {

    public TenantSpec {
        groups = groups.stream().distinct().sorted().toList();
    }
}
