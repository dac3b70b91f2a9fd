package io.quartermaster.engine.state;

import io.quartermaster.engine.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;

/** Work of one path: the same for all that is submitted under it. What is used of it changed, when it is touched. */
public final class GroupState implements ChangeLog.StateChange {
    private final List<SchedulingClass> tenant;
    private final List<QuotaNode> leaves;
    private final List<SchedulingClass> schedulingClasses = new ArrayList<>(2);
    private final TenantBoundsChanged tenantBoundsChanged = new TenantBoundsChanged(this);

    /** With what is used of the group also what the bounds above it leave for the tenant's other groups changed. */
    public record TenantBoundsChanged(GroupState group) implements ChangeLog.StateChange {}

    /**
     * @param tenant the lines of all groups of its tenant
     * @param leaves where it counts, in every tree
     */
    GroupState(List<SchedulingClass> tenant, List<QuotaNode> leaves) {
        this.tenant = tenant;
        this.leaves = List.copyOf(leaves);
    }

    public List<SchedulingClass> tenant() {
        return tenant;
    }

    /** Its own lines. */
    public List<SchedulingClass> lines() {
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

    /** What to touch after what is used of it has changed. */
    ChangeLog.StateChange recordChange(boolean othersAreBounded) {
        boolean passed = othersAreBounded;
        for (QuotaNode leaf : leaves) {
            passed |= leaf.takeCrossedBoundsAbove();
        }
        return passed ? tenantBoundsChanged : this;
    }

    /** Whether, since it was asked last, so much was taken or let go of anything it counts in that it matters to others how much there is. */
    boolean takeCapacityCrossed() {
        boolean passed = false;
        for (QuotaNode leaf : leaves) {
            passed |= leaf.tree().root().takeCrossedBoundsAbove();
        }
        return passed;
    }
}
