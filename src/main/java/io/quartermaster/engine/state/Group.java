package io.quartermaster.engine.state;

import io.quartermaster.engine.quota.QuotaNode;
import java.util.ArrayList;
import java.util.List;

/** Work of one path: the same for all that is submitted under it. What is used of it changed, when it is touched. */
public final class Group implements Touches.Touch {
    private final List<Line> tenant;
    private final List<QuotaNode> leaves;
    private final List<Line> lines = new ArrayList<>(2);
    private final TenantBounds tenantBounds = new TenantBounds(this);

    /** With what is used of the group also what the bounds above it leave for the tenant's other groups changed. */
    public record TenantBounds(Group group) implements Touches.Touch {}

    /**
     * @param tenant the lines of all groups of its tenant
     * @param leaves where it counts, in every tree
     */
    Group(List<Line> tenant, List<QuotaNode> leaves) {
        this.tenant = tenant;
        this.leaves = List.copyOf(leaves);
    }

    public List<Line> tenant() {
        return tenant;
    }

    /** Its own lines. */
    public List<Line> lines() {
        return lines;
    }

    public List<QuotaNode> leaves() {
        return leaves;
    }

    void add(Line line) {
        tenant.add(line);
        lines.add(line);
    }

    void remove(Line line) {
        tenant.remove(line);
        lines.remove(line);
    }

    /** What to touch after what is used of it has changed. */
    Touches.Touch touch(boolean othersAreBounded) {
        boolean passed = othersAreBounded;
        for (QuotaNode leaf : leaves) {
            passed |= leaf.takePassedBoundsAbove();
        }
        return passed ? tenantBounds : this;
    }

    /** Whether, since it was asked last, so much was taken or let go of anything it counts in that it matters to others how much there is. */
    boolean takeCapacityPassed() {
        boolean passed = false;
        for (QuotaNode leaf : leaves) {
            passed |= leaf.tree().root().takePassedBoundsAbove();
        }
        return passed;
    }
}
