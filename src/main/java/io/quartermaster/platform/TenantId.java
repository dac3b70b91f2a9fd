package io.quartermaster.platform;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * The id of a tenant. It is also the name of its realm, the first step of its quota paths and the hash tag of its Redis
 * keys. Ids are never reused.
 */
@Schema(type = SchemaType.STRING, pattern = "^[a-z][a-z0-9-]{1,38}[a-z0-9]$", description = "id of a tenant")
public record TenantId(String value) implements Comparable<TenantId> {

    /** The description of a valid id, for the field {@code accepted} of a problem. */
    public static final String ACCEPTED =
            "3 to 40 characters: a lower-case letter first, then lower-case letters, digits and hyphens, no hyphen last";

    private static final Pattern FORM = Pattern.compile("[a-z][a-z0-9-]{1,38}[a-z0-9]");

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public TenantId {
        if (!FORM.matcher(value).matches()) {
            throw new IllegalArgumentException("\"" + value + "\" is not an id of a tenant");
        }
    }

    public static boolean isValid(String value) {
        return FORM.matcher(value).matches();
    }

    @Override
    public int compareTo(TenantId other) {
        return value.compareTo(other.value);
    }

    @JsonValue
    @Override
    public String toString() {
        return value;
    }
}
