package io.quartermaster.platform.http;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An error in the form of RFC 9457, with a {@code code} whose meaning never changes. For invalid input it names each
 * field and the accepted values.
 */
@JsonInclude(JsonInclude.Include.NON_EMPTY)
public record Problem(
        String type,
        String title,
        int status,
        String code,
        String detail,
        @Nullable String instance,
        List<Field> errors) {

    public static final String MEDIA_TYPE = "application/problem+json";

    /**
     * One field that was not accepted. {@code field} is a path such as {@code quotas[0].reserved}, or a header or query
     * parameter.
     */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Field(
            String field, String message, @Nullable String accepted) {}

    public Problem {
        errors = List.copyOf(errors);
    }

    public static Problem of(int status, String code, String detail, List<Field> errors) {
        return new Problem("urn:quartermaster:problem:" + code, title(code), status, code, detail, null, errors);
    }

    private static String title(String code) {
        String words = code.replace('-', ' ');
        return Character.toUpperCase(words.charAt(0)) + words.substring(1);
    }
}
