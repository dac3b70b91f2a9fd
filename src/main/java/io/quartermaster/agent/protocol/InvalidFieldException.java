package io.quartermaster.agent.protocol;

/** Thrown when a field of a message of the protocol has an invalid value. */
public final class InvalidFieldException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;

    private final String field;
    private final String given;
    private final String accepted;

    InvalidFieldException(String field, String given, String accepted) {
        super("%s must be %s, was %s".formatted(field, accepted, given));
        this.field = field;
        this.given = given;
        this.accepted = accepted;
    }

    /** The path of the field inside the record that refused it, such as {@code devices[1].index}. */
    public String field() {
        return field;
    }

    /** The beginning of the given value. */
    public String given() {
        return given;
    }

    public String accepted() {
        return accepted;
    }
}
