package io.quartermaster.engine.quota;

import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.ShareExplanation;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** Explains fair shares by the numbers of the last division. */
public final class ShareExplainer {

    private ShareExplainer() {}

    /**
     * The divisions that lead to the share of a path. Empty if no quota of the tree was stated for the path or above
     * it, because the tree then sets no rule for the path. If no quota names the path, the last level is that of the
     * nearest branch above it.
     */
    public static Optional<ShareExplanation> explain(QuotaTree tree, QuotaPath path) {
        List<ShareExplanation.Level> levels = new ArrayList<>();
        QuotaNode above = tree.root();
        Optional<QuotaNode> next = branchTo(path, above);
        while (next.isPresent()) {
            QuotaNode branch = next.get();
            levels.add(level(above, branch));
            above = branch;
            next = branchTo(path, above);
        }
        return above.isStated() ? Optional.of(new ShareExplanation(tree.scope(), levels)) : Optional.empty();
    }

    private static Optional<QuotaNode> branchTo(QuotaPath path, QuotaNode above) {
        return above.children().stream()
                .filter(child -> child.path().covers(path) && !isOwnWork(child))
                .findFirst();
    }

    private static boolean isOwnWork(QuotaNode node) {
        QuotaNode above = node.parent();
        return above != null && above.path().equals(node.path());
    }

    private static ShareExplanation.Level level(QuotaNode above, QuotaNode branch) {
        return new ShareExplanation.Level(
                above.fairGpuMilli(),
                toBranch(branch),
                above.children().stream()
                        .filter(child -> child != branch)
                        .map(ShareExplainer::toBranch)
                        .toList());
    }

    private static ShareExplanation.Branch toBranch(QuotaNode node) {
        return new ShareExplanation.Branch(
                node.path(),
                isOwnWork(node),
                node.reservedGpuMilli(),
                node.limitGpuMilli(),
                node.overQuota(),
                node.weightMilli(),
                node.rank(),
                node.used().projected(),
                node.demandGpuMilli(),
                node.fairGpuMilli(),
                node.tree().pastCounts() ? OptionalLong.of(node.pastGpuMicro()) : OptionalLong.empty(),
                bound(node));
    }

    private static ShareExplanation.ShareBound bound(QuotaNode node) {
        if (node.fairGpuMilli() < node.demandGpuMilli()) {
            return node.weightMilli() == 0 && node.fairGpuMilli() == node.reservedGpuMilli()
                    ? ShareExplanation.ShareBound.NO_WEIGHT
                    : ShareExplanation.ShareBound.DIVISION;
        }
        if (node.uncappedDemandGpuMilli() == node.demandGpuMilli()) {
            return ShareExplanation.ShareBound.DEMAND;
        }
        return node.demandGpuMilli() == node.ceilingGpuMilli()
                ? ShareExplanation.ShareBound.LIMIT
                : ShareExplanation.ShareBound.OVER_QUOTA_OFF;
    }
}
