package io.quartermaster.insight;

import io.quartermaster.engine.model.ShareExplanation;
import io.quartermaster.engine.model.ShareExplanation.Branch;
import io.quartermaster.platform.GpuAmount;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** An explanation of a fair share as the group's tenant may see it: the first level shows nothing of its siblings. */
final class ShareText {

    private final ShareExplanation explanation;

    ShareText(ShareExplanation explanation) {
        this.explanation = explanation;
    }

    List<ShareApi.Level> levels() {
        List<ShareApi.Level> levels = new ArrayList<>();
        for (ShareExplanation.Level level : explanation.levels()) {
            boolean ofTenant = levels.isEmpty();
            levels.add(new ShareApi.Level(
                    view(level.branch()),
                    ofTenant ? null : new GpuAmount(level.dividedGpuMilli()),
                    ofTenant
                            ? null
                            : level.siblings().stream().map(ShareText::view).toList(),
                    text(level, ofTenant)));
        }
        return levels;
    }

    private static ShareApi.Branch view(Branch branch) {
        OptionalLong limit = branch.limitGpuMilli();
        OptionalLong past = branch.pastGpuMicro();
        return new ShareApi.Branch(
                branch.path().group(),
                branch.ownWork(),
                new GpuAmount(branch.reservedGpuMilli()),
                limit.isPresent() ? new GpuAmount(limit.getAsLong()) : null,
                branch.overQuota(),
                plain(BigDecimal.valueOf(branch.weightMilli(), 3)),
                branch.rank(),
                new GpuAmount(branch.usedGpuMilli()),
                new GpuAmount(branch.demandGpuMilli()),
                new GpuAmount(branch.fairGpuMilli()),
                past.isPresent() ? plain(BigDecimal.valueOf(past.getAsLong(), 6)) : null,
                branch.bound());
    }

    private static BigDecimal plain(BigDecimal value) {
        BigDecimal stripped = value.stripTrailingZeros();
        return stripped.scale() < 0 ? stripped.setScale(0) : stripped;
    }

    private static String text(ShareExplanation.Level level, boolean ofTenant) {
        Branch branch = level.branch();
        GpuAmount fair = new GpuAmount(branch.fairGpuMilli());
        GpuAmount reserved = new GpuAmount(branch.reservedGpuMilli());
        String sentence =
                switch (branch.bound()) {
                    case DEMAND ->
                        "Its fair share is " + fair + ": all that its work uses and waits for, as far "
                                + "as the limits of its groups allow";
                    case LIMIT -> "Its fair share is " + fair + ", its limit; its work would use more";
                    case OVER_QUOTA_OFF ->
                        "Its fair share is " + fair + ", because it may not use more than it reserves";
                    case NO_WEIGHT -> "Its fair share is the reserved " + reserved + ", because its weight is 0";
                    case DIVISION -> division(level, ofTenant);
                };
        long entitled = Math.max(branch.fairGpuMilli(), branch.reservedGpuMilli());
        return branch.usedGpuMilli() <= entitled
                ? sentence + "."
                : sentence + ". It uses " + new GpuAmount(branch.usedGpuMilli() - entitled)
                        + " more, which others can take back.";
    }

    private static String division(ShareExplanation.Level level, boolean ofTenant) {
        Branch branch = level.branch();
        GpuAmount demand = new GpuAmount(branch.demandGpuMilli());
        GpuAmount reserved = new GpuAmount(Math.min(branch.reservedGpuMilli(), branch.fairGpuMilli()));
        GpuAmount rest = new GpuAmount(Math.max(0, branch.fairGpuMilli() - branch.reservedGpuMilli()));
        return "Its fair share is " + new GpuAmount(branch.fairGpuMilli()) + " of the " + demand
                + " that its work uses and waits for: " + reserved + " reserved and " + rest + " of the rest, which "
                + (ofTenant
                        ? "tenants share by rank and weight"
                        : "the groups of " + parent(branch) + " share by rank and weight");
    }

    private static String parent(Branch branch) {
        List<String> segments = branch.path().segments();
        return segments.size() == 2 ? "the tenant" : "/" + String.join("/", segments.subList(1, segments.size() - 1));
    }
}
