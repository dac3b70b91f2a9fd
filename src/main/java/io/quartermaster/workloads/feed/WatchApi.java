package io.quartermaster.workloads.feed;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.time.Instant;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** The events of live views in the API. */
public final class WatchApi {

    private WatchApi() {}

    /**
     * A change of a workload.
     *
     * @param state the new state
     * @param reason why it waits, if that changed
     * @param message the reason in words and numbers, as they were at that time
     * @param attempt number of the attempt that changed
     * @param pool where the attempt holds devices
     * @param rule the rule by which it holds them
     * @param cause why it was preempted
     * @param forWorkload the preemptor, if it belongs to the same tenant
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
