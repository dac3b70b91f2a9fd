package io.quartermaster.capacity.inventory;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for clusters. */
final class ClusterApi {

    private ClusterApi() {}

    @Schema(name = "ClusterRequest")
    record Request(
            @Schema(required = true, examples = "fra-1") @Nullable
            String name,

            @Schema(required = true) @Nullable ClusterKind kind,

            @Schema(required = true, examples = "eu-central") @Nullable
            String region) {}

    @Schema(name = "ClusterPatch", description = "An absent field stays unchanged.")
    record Patch(
            @Schema(description = "Region of the cluster, such as `eu-central`. Null is refused.") @Nullable
            String region) {}

    @Schema(name = "Cluster")
    record View(
            UUID id,
            String name,
            ClusterKind kind,
            String region,
            long version,
            Instant createdAt,

            @Schema(
                    description = "Warnings: the service accepts the change, but it may not have the effect "
                            + "that you expect. In answers to writes only.")
            @Nullable
            List<String> warnings) {

        View with(List<String> found) {
            return new View(id, name, kind, region, version, createdAt, found);
        }

        boolean matches(Request request) {
            return kind == request.kind() && region.equals(request.region());
        }
    }
}
