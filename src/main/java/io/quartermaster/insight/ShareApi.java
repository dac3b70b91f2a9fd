package io.quartermaster.insight;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.quartermaster.engine.model.ShareExplanation.ShareBound;
import io.quartermaster.platform.GpuAmount;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Answers of the API for fair shares. */
public final class ShareApi {

    private ShareApi() {}

    @Schema(name = "ShareExplanation", description = "The numbers behind the fair shares of a group at one moment.")
    public record View(
            @Schema(description = "Path of the group; `/` is the tenant itself.", examples = "/research")
            String group,

            @Schema(description = "The moment of all numbers.")
            Instant asOf,

            @Schema(
                    description =
                            "One entry for each pool in which a quota binds the group, in the order of their names. "
                                    + "Quotas over all pools together come first.")
            List<PoolShare> pools) {}

    @Schema(name = "PoolShare", description = "The fair share of a group in one pool.")
    public record PoolShare(
            @Schema(description = "Name of the pool; `*`: all pools together.", examples = "h100")
            String pool,

            @Schema(
                    description =
                            "The divisions that lead to the share, from the tenant down to the group. If no policy "
                                    + "names the group in the pool, they end at the nearest group above it that a policy names.")
            List<Level> levels) {}

    @Schema(name = "ShareLevel", description = "One division of a fair share among the groups below it.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Level(
            Branch branch,

            @Schema(
                    description = "The amount that is divided among the branch and its siblings: the fair share of the "
                            + "branch above. Absent for the tenant, which shares the pool with other tenants.")
            @Nullable
            GpuAmount divided,

            @Schema(description = "The other branches in the division. Absent for the tenant.") @Nullable
            List<Branch> siblings,

            @Schema(description = "What decides the fair share, in a sentence.")
            String text) {}

    @Schema(name = "ShareBranch", description = "A tenant or a group in a division.")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Branch(
            @Schema(description = "Path of the group; `/` is the tenant.", examples = "/research")
            String group,

            @Schema(description = "Whether this is only the work of the group itself, beside that of its subgroups.")
            boolean ownWork,

            GpuAmount reserved,

            @Schema(description = "Absent: no limit.") @Nullable
            GpuAmount limit,

            @Schema(description = "Whether it may use more than it reserves.")
            boolean overQuota,

            @Schema(description = "The weight in the division. It is the reserved amount if none is stated.")
            BigDecimal weight,

            @Schema(description = "Branches of a lower rank get their part of the rest first.")
            int rank,

            @Schema(description = "GPUs that its work uses once all preempted work has left.")
            GpuAmount used,

            @Schema(description = "GPUs that its work uses and waits for, as far as its limits allow.")
            GpuAmount demand,

            @Schema(
                    description = "The fair share: its work may use so much, or its reserved amount if that is more. "
                            + "Others can take back what it uses beyond that.")
            GpuAmount fairShare,

            @Schema(
                    description =
                            "The average past use in GPUs, which lowers the weight. Absent where past use does not "
                                    + "count.")
            @Nullable
            BigDecimal pastUse,

            @Schema(
                    description =
                            "Why the fair share is not greater: the branch demands no more, has reached its limit, "
                                    + "may not exceed its reserved amount, has no weight, or the division gives it no more.")
            ShareBound bound) {}
}
