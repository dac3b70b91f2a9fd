package io.quartermaster.workloads.logs;

import java.time.Instant;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * A line of the output of a workload.
 *
 * @param at when the service received it
 */
@Schema(name = "LogLine", description = "A line of output.")
public record LogLine(
        @Schema(description = "Number of the attempt of its workload, from 1.")
        int attempt,

        @Schema(
                description =
                        "The number of the worker that wrote it, from 0. Workers of one attempt on one node share "
                                + "their output, which has the lowest of their numbers.")
        int worker,

        @Schema(
                type = SchemaType.STRING,
                enumeration = {COMBINED},
                description = "Standard and error output are stored together.")
        String stream,

        @Schema(description = "When the service received the line from the node.")
        Instant at,

        @Schema(description = "The text, without its line break.")
        String line,

        @Schema(description = "True if the line is not complete: the next event of the worker continues it.")
        boolean partial) {

    static final String COMBINED = "combined";
}
