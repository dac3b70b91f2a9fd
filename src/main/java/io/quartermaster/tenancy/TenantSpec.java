package io.quartermaster.tenancy;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.quartermaster.access.GroupPath;
import io.quartermaster.platform.TenantId;
import java.util.List;

/** A tenant as it was asked for. Kept with its operation, so that the same request can be told from another one of the same id. */
public record TenantSpec(TenantId id, String displayName, String plan, List<GroupPath> groups) {

    /** As it is stored: also with groups that requests may not name any more, so that such a tenant can still be offboarded. */
    @JsonCreator
    static TenantSpec stored(
            @JsonProperty("id") TenantId id,
            @JsonProperty("displayName") String displayName,
            @JsonProperty("plan") String plan,
            @JsonProperty("groups") List<String> groups) {
        return new TenantSpec(
                id, displayName, plan, groups.stream().map(GroupPath::new).toList());
    }

    public TenantSpec {
        groups = groups.stream().distinct().sorted().toList();
    }
}
