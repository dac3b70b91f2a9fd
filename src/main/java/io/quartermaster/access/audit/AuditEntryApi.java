package io.quartermaster.access.audit;

import io.quartermaster.platform.http.ProblemException;
import jakarta.ws.rs.QueryParam;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** Audit entries as the API shows them. */
public final class AuditEntryApi {

    private AuditEntryApi() {}

    /** One change and its actor, as recorded together with the change. */
    @Schema(name = "AuditEntry")
    public record View(
            UUID id,
            Instant at,

            @Schema(description = "name of the user or service account in its realm")
            String actor,

            @Schema(description = "operator, or the tenant whose realm the actor belongs to")
            String actorRealm,

            @Schema(description = "resource:verb", examples = "policies:update")
            String action,

            @Schema(description = "path of the resource", examples = "policies/rnd")
            String resource,

            @Schema(description = "the resource before the change; absent if it is new") @Nullable
            Map<String, Object> before,

            @Schema(description = "the resource after the change; absent if it was deleted") @Nullable
            Map<String, Object> after,

            @Nullable String requestId,

            @Schema(description = "format of the hashed text")
            int formatVersion,

            @Schema(
                    description = "number in the tenant's chain; absent, like the hashes, for a moment until the entry "
                            + "is sealed")
            @Nullable
            Long sequence,

            @Schema(description = "SHA-256 over the entry, its number and the hash before it; in hexadecimal") @Nullable
            String hash,

            @Schema(description = "the hash of the entry with the number before; empty for the first") @Nullable
            String previousHash) {}

    /** The filter of a list of entries, as query parameters. */
    public static final class Query {

        @QueryParam("actor")
        @Parameter(description = "name of the actor that made the change")
        @Nullable
        String actor;

        @QueryParam("action")
        @Parameter(description = "resource:verb, such as policies:update")
        @Nullable
        String action;

        @QueryParam("resource")
        @Parameter(description = "path of the changed resource, such as policies/rnd; resources below it are found too")
        @Nullable
        String resource;

        @QueryParam("from")
        @Parameter(
                description = "Only changes made at this instant or later.",
                schema = @Schema(implementation = Instant.class))
        @Nullable
        String from;

        @QueryParam("to")
        @Parameter(
                description = "Only changes made before this instant.",
                schema = @Schema(implementation = Instant.class))
        @Nullable
        String to;

        Filter validate() {
            var problems = new ProblemException.Invalid();
            Optional<Instant> begin = problems.instant("from", from);
            Optional<Instant> end = problems.instant("to", to);
            problems.throwIfAny();
            return new Filter(
                    Optional.ofNullable(actor), Optional.ofNullable(action), Optional.ofNullable(resource), begin, end);
        }
    }

    /** The filter of a list; empty fields match all entries. */
    record Filter(
            Optional<String> actor,
            Optional<String> action,
            Optional<String> resource,
            Optional<Instant> from,
            Optional<Instant> to) {}
}
