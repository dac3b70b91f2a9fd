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
 * The answer to every write with {@code ?dryRun=true} that would not be refused, always with status 200: what the write would answer, its
 * effects apart, and all its warnings in one list. Nothing of the request is kept.
 */
@Schema(
        name = "DryRun",
        description =
                "The answer to a write with dryRun=true that would not be refused. Nothing was changed. A write that would be refused is answered with its problem.")
public record DryRun(
        @Schema(description = "the status that the write would have", examples = "201")
        int status,

        @Schema(
                type = SchemaType.OBJECT,
                additionalProperties = Schema.True.class,
                implementation = Object.class,
                description =
                        "what the write would answer, without effects and warnings; without its id where it would be made; absent where the write answers without a body")
        @Nullable
        Object resource,

        @Schema(
                ref = "#/components/schemas/Effects",
                description = "what the change would do beyond itself; absent for writes that have none")
        @Nullable
        Object effects,

        @Schema(description = "what is allowed, but may not do what the caller expects")
        List<String> warnings) {

    private static final int CREATED = 201;
    private static final int ACCEPTED = 202;

    /** An answer that says nothing but what a change does beyond itself. */
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
            forgetIds(resource);
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

    /** Ids that nothing will ever have. */
    private static void forgetIds(ObjectNode made) {
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
