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

/** Audit entries as the API speaks of them. */
public final class AuditEntryApi {

    private AuditEntryApi() {}

    /** One change that somebody made, as it was written with the change itself. */
    @Schema(name = "AuditEntry")
    public record View(
            UUID id,
            Instant at,

            @Schema(description = "name of the user or service account in its realm")
            String actor,

            @Schema(description = "operator, or the tenant whose realm knows the actor")
            String actorRealm,

            @Schema(description = "resource:verb", examples = "policies:update")
            String action,

            @Schema(description = "path of the thing", examples = "policies/rnd")
            String resource,

            @Schema(description = "the thing as it was; absent for what is new") @Nullable
            Map<String, Object> before,

            @Schema(description = "the thing as it is; absent for what is gone") @Nullable
            Map<String, Object> after,

            @Nullable String requestId,

            @Schema(description = "of what is hashed") int formatVersion,

            @Schema(
                    description =
                            "number in the tenant's chain; absent, like the hashes, for a moment until the entry is sealed")
            @Nullable
            Long sequence,

            @Schema(description = "SHA-256 over the entry, its number and the hash before it; in hexadecimal") @Nullable
            String hash,

            @Schema(description = "the hash of the entry with the number before; empty for the first") @Nullable
            String previousHash) {}

    /** What a list of entries is narrowed to, as query parameters. */
    public static final class Query {

        @QueryParam("actor")
        @Parameter(description = "who made the change, by name")
        @Nullable
        String actor;

        @QueryParam("action")
        @Parameter(description = "resource:verb, such as policies:update")
        @Nullable
        String action;

        @QueryParam("resource")
        @Parameter(description = "path of what was changed, such as policies/rnd; things below it are found too")
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

        Filter checked() {
            var problems = new ProblemException.Invalid();
            Optional<Instant> begin = problems.instant("from", from);
            Optional<Instant> end = problems.instant("to", to);
            problems.throwIfAny();
            return new Filter(
                    Optional.ofNullable(actor), Optional.ofNullable(action), Optional.ofNullable(resource), begin, end);
        }
    }

    /** What a list is narrowed to; empty leaves all. */
    record Filter(
            Optional<String> actor,
            Optional<String> action,
            Optional<String> resource,
            Optional<Instant> from,
            Optional<Instant> to) {}
}
