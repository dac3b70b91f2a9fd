package io.quartermaster.workloads.feed;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** What live views stream. */
public final class WatchApi {

    private WatchApi() {}

    /**
     * Something that happened to a workload.
     *
     * @param state what it is from then on
     * @param reason why it waits, when that changed
     * @param message the reason in words and numbers, as they were at that time
     * @param attempt number of the attempt it is about
     * @param pool where the attempt holds devices
     * @param rule by which right it was bound
     * @param cause why it has to give way
     * @param forWorkload whom it gives way to, when that is the same tenant's
     */
    @Schema(name = "WorkloadEvent")
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Event(
            UUID workload,
            Instant at,
            @Schema(ref = "WorkloadState") @Nullable String state,
            @Schema(ref = "WaitReasonCode") @Nullable String reason,
            @Nullable String message,
            @Nullable Integer attempt,
            @Nullable String pool,
            @Schema(ref = "StartRule") @Nullable String rule,
            @Schema(ref = "PreemptionCause") @Nullable String cause,
            @Nullable UUID forWorkload,
            @Nullable String endReason) {}
}
