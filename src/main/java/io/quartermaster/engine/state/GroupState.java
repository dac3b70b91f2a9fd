package io.quartermaster.engine.state;

import io.quartermaster.engine.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;

/**
 * The state of one path, shared by all work that is submitted under it. In the {@link ChangeLog} it stands for a change
 * of the group's use.
 */
public final class GroupState implements ChangeLog.StateChange {
    private final List<SchedulingClass> tenant;
    private final List<QuotaNode> leaves;
    private final List<SchedulingClass> schedulingClasses = new ArrayList<>(2);
    private final TenantBoundsChange tenantBoundsChange = new TenantBoundsChange(this);

    /**
     * A change of the group's use that also changes how much the bounds above it leave for other groups of the tenant.
     */
    public record TenantBoundsChange(GroupState group) implements ChangeLog.StateChange {}

    /**
     * @param tenant the scheduling classes of all groups of its tenant
     * @param leaves the leaves at which it counts, in every tree
     */
    GroupState(List<SchedulingClass> tenant, List<QuotaNode> leaves) {
        this.tenant = tenant;
        this.leaves = List.copyOf(leaves);
    }

    public List<SchedulingClass> tenant() {
        return tenant;
    }

    /** The scheduling classes of the group. */
    public List<SchedulingClass> schedulingClasses() {
        return schedulingClasses;
    }

    public List<QuotaNode> leaves() {
        return leaves;
    }

    void add(SchedulingClass schedulingClass) {
        tenant.add(schedulingClass);
        schedulingClasses.add(schedulingClass);
    }

    void remove(SchedulingClass schedulingClass) {
        tenant.remove(schedulingClass);
        schedulingClasses.remove(schedulingClass);
    }

    /** The change to log after the group's use has changed. */
    ChangeLog.StateChange recordChange(boolean othersAreBounded) {
        boolean passed = othersAreBounded;
        for (QuotaNode leaf : leaves) {
            passed |= leaf.takeCrossedBoundsAbove();
        }
        return passed ? tenantBoundsChange : this;
    }

    /**
     * Whether use has crossed the capacity of a tree of this group since the last call, so that other work is affected.
     */
    boolean takeCapacityCrossed() {
        boolean passed = false;
        for (QuotaNode leaf : leaves) {
            passed |= leaf.tree().root().takeCrossedBoundsAbove();
        }
        return passed;
    }
}
