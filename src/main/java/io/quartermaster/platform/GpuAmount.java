package io.quartermaster.platform;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import io.quartermaster.platform.contract.ContractAmounts;
import java.math.BigDecimal;
import java.util.regex.Pattern;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;

/**
 * An amount of GPUs, in thousandths. The API writes it as a decimal in a string ({@code "0.25"}), so that no client
 * reads it as a binary float. {@link #parse} bounds the amounts in requests. Amounts in answers have no bound: a sum or
 * a difference may exceed the most that a request may state, and writing it must never fail.
 */
@Schema(
        type = SchemaType.STRING,
        format = "gpus",
        pattern = GpuAmount.RESPONSE_PATTERN,
        description =
                "GPUs, a decimal in a string with at most three places; a sum may exceed the most that a request may state")
public record GpuAmount(long milli) implements Comparable<GpuAmount> {

    /** A million GPUs, the most that a request may state: more than any cell has, and far from overflow when summed. */
    public static final long MAX_MILLI = 1_000_000_000L;

    public static final String ACCEPTED = "a decimal in a string with at most three places, from \"0\" to \"1000000\"";

    /** The pattern of an amount in a request; {@link ContractAmounts} writes it into the contract. */
    public static final String REQUEST_PATTERN = "^[0-9]{1,7}(\\.[0-9]{1,3})?$";

    /** The pattern of an amount in an answer: any number of thousandths that a {@code long} holds. */
    static final String RESPONSE_PATTERN = "^-?[0-9]{1,16}(\\.[0-9]{1,3})?$";

    private static final Pattern PATTERN = Pattern.compile(REQUEST_PATTERN);

    /** Reads an amount of a request; refuses a text that is not as {@link #ACCEPTED} describes. */
    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    public static GpuAmount parse(String text) {
        // Matched first: BigDecimal also reads exponents, signs, and digits of other scripts.
        if (!PATTERN.matcher(text).matches()) {
            throw invalid(text);
        }
        long milli = new BigDecimal(text).movePointRight(3).longValueExact();
        if (milli > MAX_MILLI) {
            throw invalid(text);
        }
        return new GpuAmount(milli);
    }

    private static IllegalArgumentException invalid(String text) {
        return new IllegalArgumentException("\"" + text + "\" is not " + ACCEPTED);
    }

    @JsonValue
    public String decimal() {
        BigDecimal value = BigDecimal.valueOf(milli, 3).stripTrailingZeros();
        return value.scale() < 0 ? value.setScale(0).toPlainString() : value.toPlainString();
    }

    @Override
    public int compareTo(GpuAmount other) {
        return Long.compare(milli, other.milli);
    }

    @Override
    public String toString() {
        return decimal();
    }
}
