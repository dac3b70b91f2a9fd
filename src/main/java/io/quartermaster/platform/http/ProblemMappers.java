package io.quartermaster.platform.http;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.exc.MismatchedInputException;
import io.quarkus.security.AuthenticationFailedException;
import io.quarkus.security.UnauthorizedException;
import io.quartermaster.platform.db.DatabaseFailures;
import io.vertx.core.impl.NoStackTraceThrowable;
import io.vertx.sqlclient.ClosedConnectionException;
import jakarta.validation.ConstraintViolationException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import java.io.CharConversionException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.jboss.logging.Logger;
import org.jboss.resteasy.reactive.server.ServerExceptionMapper;
import org.jspecify.annotations.Nullable;

/**
 * Turns every failure of a request into a problem document. Internal failures are logged, and the answer does not
 * reveal their cause.
 */
public final class ProblemMappers {

    private static final Logger LOG = Logger.getLogger(ProblemMappers.class);

    /**
     * Two requests wrote the same name, or could not be serialized: unique violation, serialization failure, deadlock.
     */
    private static final Set<String> RACES = Set.of("23505", "40001", "40P01");

    /** PostgreSQL has no NUL in texts. */
    private static final String NOT_A_TEXT = "22021";

    /** A statement or a transaction exceeded the time limit of its role, or a transaction was idle for too long. */
    private static final Set<String> TOO_LONG = Set.of("57014", "25P03", "25P04");

    /** The message of a pool when no connection became free in time; the failure has no type of its own. */
    private static final String NO_FREE_CONNECTION = "Timeout";

    /**
     * The beginning of the PostgreSQL client's message when a connection broke before a statement; it has no type of
     * its own either.
     */
    private static final String BROKEN_CONNECTION = "Connection is not active now";

    private static final Duration RETRY_AFTER = Duration.ofSeconds(1);

    @ServerExceptionMapper
    public Response problem(ProblemException e) {
        return refused(e);
    }

    private static Response refused(ProblemException e) {
        return e.retryAfter().map(time -> withRetryAfter(e.problem(), time)).orElseGet(() -> response(e.problem()));
    }

    @ServerExceptionMapper
    public Response json(JacksonException e) {
        return response(JsonProblems.of(e));
    }

    /** Bytes that are not valid text in any encoding of JSON. */
    @ServerExceptionMapper
    public Response encoding(CharConversionException e) {
        return response(JsonProblems.invalid("body", "the body is not a text in UTF-8", "a JSON document in UTF-8"));
    }

    /** Mapped separately, because the framework has its own mapper for exactly this type. */
    @ServerExceptionMapper
    public Response mismatch(MismatchedInputException e) {
        return response(JsonProblems.of(e));
    }

    @ServerExceptionMapper
    public Response validation(ConstraintViolationException e) {
        List<Problem.Field> fields = e.getConstraintViolations().stream()
                .map(v -> new Problem.Field(lastSteps(v.getPropertyPath().toString()), v.getMessage(), null))
                .sorted((a, b) -> a.field().compareTo(b.field()))
                .toList();
        return response(Problem.of(400, "invalid-input", fields.size() + " fields are not accepted", fields));
    }

    @ServerExceptionMapper({UnauthorizedException.class, AuthenticationFailedException.class})
    public Response unauthorized(Exception e) {
        return unauthorized();
    }

    public static Response unauthorized() {
        return Response.fromResponse(response(unauthenticated()))
                .header("WWW-Authenticate", "Bearer")
                .build();
    }

    @ServerExceptionMapper
    public Response framework(WebApplicationException e) {
        return of(e);
    }

    public static Response of(WebApplicationException e) {
        // Jackson's own refusals arrive wrapped: look for the cause that knows the field.
        for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
            if (cause instanceof JacksonException json) {
                return response(JsonProblems.of(json));
            }
            if (cause instanceof ProblemException problem) {
                return refused(problem);
            }
        }
        int status = e.getResponse().getStatus();
        if (status == 404) {
            return response(ProblemException.notFound().problem());
        }
        return response(Problem.of(status, code(status), detail(status, e.getMessage()), List.of()));
    }

    @ServerExceptionMapper
    public Response unexpected(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof ProblemException problem) {
                return refused(problem);
            }
            String state = DatabaseFailures.state(cause);
            if (NOT_A_TEXT.equals(state)) {
                return response(JsonProblems.invalid(
                        "body", "a text of the request holds the character NUL", "texts without NUL"));
            }
            if (state != null && RACES.contains(state)) {
                return response(Problem.of(
                        409,
                        "changed-meanwhile",
                        "another request changed the same resource at the same time; send this request again",
                        List.of()));
            }
            if (DatabaseFailures.isLockTimeout(cause)) {
                LOG.warnf("answered a request with 503: it waited too long for a lock: %s", cause.getMessage());
                return locked();
            }
            if (isOverloaded(cause)) {
                LOG.warnf("answered a request with 503: the database is overloaded: %s", cause.getMessage());
                return overloaded();
            }
            if (isUnavailable(cause)) {
                LOG.warnf("answered a request with 503: %s", cause.getMessage());
                return unavailable();
            }
        }
        LOG.error("a request failed", e);
        return response(Problem.of(
                500,
                "internal-error",
                "the service failed, and its log has the cause; the database keeps nothing of the request",
                List.of()));
    }

    /** Whether the failure means that a system which the service needs is unreachable. */
    private static boolean isUnavailable(Throwable cause) {
        String state = DatabaseFailures.state(cause);
        return cause instanceof ClosedConnectionException
                || cause instanceof UnknownHostException
                || cause instanceof SocketException
                || cause instanceof ClosedChannelException
                || isBrokenConnection(cause)
                || (state != null && DatabaseFailures.isTransientState(state));
    }

    private static boolean isBrokenConnection(Throwable cause) {
        String message = cause instanceof NoStackTraceThrowable ? cause.getMessage() : null;
        return message != null && message.startsWith(BROKEN_CONNECTION);
    }

    /** Whether the failure means that requests exceed the time limits of the database. Such a request has no effect. */
    private static boolean isOverloaded(Throwable cause) {
        String state = DatabaseFailures.state(cause);
        return (cause instanceof NoStackTraceThrowable && NO_FREE_CONNECTION.equals(cause.getMessage()))
                || (state != null && TOO_LONG.contains(state));
    }

    private static Response locked() {
        Problem problem = Problem.of(
                503,
                "unavailable",
                "other requests that change the same resources did not finish in time; this request had no effect. "
                        + "Send it again later",
                List.of());
        return withRetryAfter(problem, RETRY_AFTER);
    }

    private static Response overloaded() {
        Problem problem = Problem.of(
                503,
                "unavailable",
                "the database of the service is overloaded; this request had no effect. Send it " + "again later",
                List.of());
        return withRetryAfter(problem, RETRY_AFTER);
    }

    /** A connection that broke during a commit does not show whether the commit succeeded. */
    private static Response unavailable() {
        Problem problem = Problem.of(
                503,
                "unavailable",
                "the database cannot be reached. Send the request again: a write may have taken effect, but with "
                        + "the same Idempotency-Key it is not done twice",
                List.of());
        return withRetryAfter(problem, RETRY_AFTER);
    }

    private static Response withRetryAfter(Problem problem, Duration after) {
        return Response.fromResponse(response(problem))
                .header("Retry-After", after.plusMillis(999).toSeconds())
                .build();
    }

    static Problem unauthenticated() {
        return Problem.of(
                401, "unauthenticated", "a valid bearer token of a realm known to this service is needed", List.of());
    }

    private static String lastSteps(String path) {
        // The path is method.parameter.field: the caller knows neither method nor parameter.
        String[] steps = path.split("\\.", 3);
        return steps.length == 3 ? steps[2] : path;
    }

    private static String code(int status) {
        return switch (status) {
            case 400 -> "invalid-input";
            case 401 -> "unauthenticated";
            case 403 -> "forbidden";
            case 405 -> "method-not-allowed";
            case 406 -> "not-acceptable";
            case 413 -> "too-large";
            case 415 -> "unsupported-media-type";
            default -> status >= 500 ? "internal-error" : "refused";
        };
    }

    private static String detail(int status, @Nullable String message) {
        return message == null || status >= 500 ? code(status).replace('-', ' ') : message;
    }

    public static Response response(Problem problem) {
        return Response.status(problem.status())
                .type(Problem.MEDIA_TYPE)
                .entity(problem)
                .build();
    }
}
