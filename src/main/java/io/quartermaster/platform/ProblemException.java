package io.quartermaster.platform;

import java.util.ArrayList;
import java.util.List;

/** Ends a request with a {@link Problem}. Nothing the request did is kept. */
public final class ProblemException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final transient Problem problem;

    public ProblemException(Problem problem) {
        super(problem.code() + ": " + problem.detail(), null, false, false);
        this.problem = problem;
    }

    public Problem problem() {
        return problem;
    }

    /** 400: one field was not accepted. */
    public static ProblemException invalid(String field, String message, String accepted) {
        return new Invalid().add(field, message, accepted).toException();
    }

    /** 404. The same words for what does not exist and for what is another tenant's. */
    public static ProblemException notFound() {
        return of(404, "not-found", "there is no such thing, or it is not yours to see");
    }

    public static ProblemException forbidden(String detail) {
        return of(403, "forbidden", detail);
    }

    public static ProblemException conflict(String code, String detail) {
        return of(409, code, detail);
    }

    /** 422: well-formed, but the rules of the product do not allow it; names the field and what would do. */
    public static ProblemException refused(String code, String field, String message, String accepted) {
        return new ProblemException(
                Problem.of(422, code, message, List.of(new Problem.Field(field, message, accepted))));
    }

    public static ProblemException of(int status, String code, String detail) {
        return new ProblemException(Problem.of(status, code, detail, List.of()));
    }

    /** Collects everything that is wrong with an input, so that its sender hears all of it at once. */
    public static final class Invalid {
        private final List<Problem.Field> fields = new ArrayList<>();

        public Invalid add(String field, String message, String accepted) {
            fields.add(new Problem.Field(field, message, accepted));
            return this;
        }

        public Invalid check(boolean ok, String field, String message, String accepted) {
            return ok ? this : add(field, message, accepted);
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
    }
}
