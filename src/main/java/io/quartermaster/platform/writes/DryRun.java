package io.quartermaster.platform.writes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * The answer to every write with {@code ?dryRun=true} that would succeed, always with status 200. It holds the answer
 * that the write would have, its effects as a separate field, and all its warnings in one list. The request changes
 * nothing.
 */
@Schema(
        name = "DryRun",
        description = "The answer to a write with dryRun=true that would succeed. Nothing was changed. A write "
                + "that would be refused is answered with its problem.")
public record DryRun(
        @Schema(description = "the status that the write would have", examples = "201")
        int status,

        @Schema(
                type = SchemaType.OBJECT,
                additionalProperties = Schema.True.class,
                implementation = Object.class,
                description =
                        "the answer that the write would have, without effects and warnings; without the id of a resource that it would "
                                + "create; absent where the write answers without a body")
        @Nullable
        Object resource,

        @Schema(
                ref = "#/components/schemas/Effects",
                description = "what the change would cause elsewhere; absent for writes without such effects")
        @Nullable
        Object effects,

        @Schema(description = "parts of the request that are allowed, but may not do what the caller expects")
        List<String> warnings) {

    private static final int CREATED = 201;
    private static final int ACCEPTED = 202;

    /** An answer that describes only what a change causes elsewhere. */
    public interface Effect {}

    public DryRun {
        warnings = List.copyOf(warnings);
    }

    static DryRun of(WriteReply writeReply, ObjectMapper json) {
        if (writeReply.body() == null) {
            return new DryRun(writeReply.status(), null, null, List.of());
        }
        JsonNode body = json.valueToTree(writeReply.body());
        if (writeReply.body() instanceof Effect) {
            return new DryRun(writeReply.status(), null, body, warnings(body));
        }
        if (!(body instanceof ObjectNode resource)) {
            return new DryRun(writeReply.status(), body, null, List.of());
        }
        if (writeReply.status() == CREATED || writeReply.status() == ACCEPTED) {
            removeIds(resource);
        }
        JsonNode effects = resource.remove("effects");
        JsonNode own = resource.remove("warnings");
        List<String> warnings = new ArrayList<>(effects == null ? List.of() : warnings(effects));
        if (own instanceof ArrayNode texts) {
            texts.forEach(text -> warnings.add(text.asText()));
        }
        return new DryRun(
                writeReply.status(),
                resource,
                effects,
                warnings.stream().distinct().toList());
    }

    /** Removes the ids of objects that a dry run does not create. */
    private static void removeIds(ObjectNode made) {
        made.remove("id");
        if (made.get("items") instanceof ArrayNode items) {
            items.forEach(item -> {
                if (item instanceof ObjectNode one) {
                    one.remove("id");
                }
            });
        }
    }

    private static List<String> warnings(JsonNode effects) {
        List<String> warnings = new ArrayList<>();
        effects.path("warnings").forEach(text -> warnings.add(text.asText()));
        return warnings;
    }
}
