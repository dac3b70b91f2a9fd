package io.quartermaster.tenancy;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonProperty;
import io.quartermaster.access.GroupPath;
import io.quartermaster.platform.TenantId;
import java.util.List;

/**
 * The request for a tenant. It is stored with its operation, so that a repeated request can be distinguished from a
 * different one with the same id.
 */
public record TenantSpec(TenantId id, String displayName, String plan, List<GroupPath> groups) {

    /**
     * Reads a stored spec, also one with groups that requests may no longer name, so that its tenant can still be
     * offboarded.
     */
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
