package io.quartermaster.platform.http;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Ends a request with a {@link Problem}. Its transaction is rolled back. */
public final class ProblemException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    private final transient Problem problem;
    private final transient Optional<Duration> retryAfter;

    public ProblemException(Problem problem) {
        this(problem, problem.status() == 429 || problem.status() == 503 ? Optional.of(RETRY_AFTER) : Optional.empty());
    }

    /** @param retryAfter the time after which the same request may succeed; empty where it is unknown */
    public ProblemException(Problem problem, Optional<Duration> retryAfter) {
        super(problem.code() + ": " + problem.detail(), null, false, false);
        this.problem = problem;
        this.retryAfter = retryAfter;
    }

    /**
     * This problem with another name for a field, for a request that was converted into another form before its check.
     */
    public ProblemException renamed(String from, String to) {
        List<Problem.Field> fields = problem.errors().stream()
                .map(field -> new Problem.Field(field.field().replace(from, to), field.message(), field.accepted()))
                .toList();
        return new ProblemException(
                new Problem(
                        problem.type(),
                        problem.title(),
                        problem.status(),
                        problem.code(),
                        problem.detail().replace(from, to),
                        problem.instance(),
                        fields),
                retryAfter);
    }

    Optional<Duration> retryAfter() {
        return retryAfter;
    }

    public Problem problem() {
        return problem;
    }

    /** 400: one field was not accepted. */
    public static ProblemException invalid(String field, String message, String accepted) {
        return new Invalid().add(field, message, accepted).toException();
    }

    /** 404. The message is the same for a missing resource and for another tenant's resource. */
    public static ProblemException notFound() {
        return of(404, "not-found", "there is no such resource, or you may not see it");
    }

    /** 404 for a path without a route, for every caller: the list of paths is no secret. */
    public static ProblemException noSuchPath() {
        return of(404, "not-found", "there is no such path; /openapi lists all paths");
    }

    public static ProblemException forbidden(String detail) {
        return of(403, "forbidden", detail);
    }

    public static ProblemException conflict(String code, String detail) {
        return of(409, code, detail);
    }

    /** 422: well-formed, but a rule of the product does not allow it; names the field and the accepted values. */
    public static ProblemException refused(String code, String field, String message, String accepted) {
        return new ProblemException(
                Problem.of(422, code, message, List.of(new Problem.Field(field, message, accepted))));
    }

    public static ProblemException of(int status, String code, String detail) {
        return new ProblemException(Problem.of(status, code, detail, List.of()));
    }

    /** Collects all errors of an input, so that one answer reports them together. */
    public static final class Invalid {
        /** The latest time that the database and the clocks of callers can represent. */
        private static final Instant LATEST = Instant.parse("+10000-01-01T00:00:00Z");

        public static final String TIME_ACCEPTED = "an ISO-8601 instant such as 2026-11-01T00:00:00Z";

        private final List<Problem.Field> fields = new ArrayList<>();

        public Invalid add(String field, String message, String accepted) {
            fields.add(new Problem.Field(field, message, accepted));
            return this;
        }

        public Invalid check(boolean ok, String field, String message, String accepted) {
            return ok ? this : add(field, message, accepted);
        }

        /**
         * The time that a query parameter states; empty if it states none. A text that is not accepted is recorded as
         * an error.
         */
        public Optional<Instant> instant(String field, @Nullable String text) {
            if (text == null) {
                return Optional.empty();
            }
            try {
                Instant instant = InstantParser.parse(text);
                if (instant.toEpochMilli() >= 0 && instant.isBefore(LATEST)) {
                    return Optional.of(instant);
                }
            } catch (DateTimeException | ArithmeticException e) {
                // Falls through to the refusal below.
            }
            add(field, "\"" + text + "\" is no time from 1970 to 9999", TIME_ACCEPTED);
            return Optional.empty();
        }

        /** Adds all errors of another collector. */
        public void addAll(Invalid other) {
            fields.addAll(other.fields);
        }

        public boolean isEmpty() {
            return fields.isEmpty();
        }

        public ProblemException toException() {
            Problem.Field first = fields.getFirst();
            String detail = fields.size() == 1
                    ? first.field() + ": " + first.message()
                    : fields.size() + " fields are not accepted; the first is " + first.field();
            return new ProblemException(Problem.of(400, "invalid-input", detail, fields));
        }

        public void throwIfAny() {
            if (!fields.isEmpty()) {
                throw toException();
            }
        }

        /** Throws 422 if there is any error: each field is well-formed, but a rule of the product does not allow it. */
        public void refuseIfAny(String code) {
            if (!fields.isEmpty()) {
                Problem.Field first = fields.getFirst();
                throw new ProblemException(Problem.of(422, code, first.field() + " " + first.message(), fields));
            }
        }
    }
}
