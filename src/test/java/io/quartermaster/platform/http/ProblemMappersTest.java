package io.quartermaster.platform.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.core.JacksonException;
import io.quartermaster.platform.GpuAmount;
import io.smallrye.mutiny.CompositeException;
import io.vertx.core.impl.NoStackTraceThrowable;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.ClosedConnectionException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Response;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.UnknownHostException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import org.hibernate.JDBCException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProblemMappersTest {

    private final ProblemMappers mappers = new ProblemMappers();

    static Throwable[] outages() {
        return new Throwable[] {
            new PgException("the database system is shutting down", "FATAL", "57P03", ""),
            new PgException("terminating connection due to administrator command", "FATAL", "57P01", ""),
            new PgException("sorry, too many clients already", "FATAL", "53300", ""),
            new PgException("connection failure", "FATAL", "08006", ""),
            new CompletionException(new ConnectException("Connection refused")),
            new CompletionException(new SocketException("Connection reset")),
            new IllegalStateException(ClosedConnectionException.INSTANCE),
            new CompletionException(new NoStackTraceThrowable("Timeout")),
            // A statement on a broken connection, and the rollback after it.
            new CompositeException(
                    new NoStackTraceThrowable("Connection is not active now, current status: CLOSED"),
                    new NoStackTraceThrowable("Connection is not active now, current status: CLOSED")),
            new PgException("canceling statement due to statement timeout", "ERROR", "57014", ""),
            new PgException("terminating connection due to idle-in-transaction timeout", "FATAL", "25P03", ""),
            new PgException("terminating connection due to transaction timeout", "FATAL", "25P04", ""),
            new PgException("canceling statement due to lock timeout", "ERROR", "55P03", ""),
            byHibernate("55P03"),
            byHibernate("57014"),
            byHibernate("57P01"),
            new PgException("out of memory", "ERROR", "53200", ""),
            new PgException("could not read a file", "ERROR", "58030", ""),
            new CompletionException(new UnknownHostException("postgres")),
        };
    }

    /** Hibernate keeps of the client's exception only its message and its SQLSTATE. */
    private static JDBCException byHibernate(String sqlState) {
        return new JDBCException("error executing SQL statement", new SQLException("refused", sqlState, 0), "select 1");
    }

    static Throwable[] races() {
        return new Throwable[] {
            new PgException("deadlock detected", "ERROR", "40P01", ""),
            byHibernate("40P01"),
            byHibernate("40001"),
            new CompletionException(byHibernate("23505")),
        };
    }

    @ParameterizedTest
    @MethodSource("races")
    void whoLosesARaceIsToldToTryAgain(Throwable race) {
        Response response = mappers.unexpected(race);

        assertThat(response.getStatus()).isEqualTo(409);
        assertThat(((Problem) response.getEntity()).code()).isEqualTo("changed-meanwhile");
    }

    @ParameterizedTest
    @MethodSource("outages")
    void anOutageOfTheDatabaseIsSaidToPassAndIsWorthAskingAgain(Throwable outage) {
        Response response = mappers.unexpected(outage);

        assertThat(response.getStatus()).isEqualTo(503);
        assertThat(response.getHeaderString("Retry-After")).isEqualTo("1");
        assertThat(((Problem) response.getEntity()).code()).isEqualTo("unavailable");
    }

    @ParameterizedTest
    @ValueSource(ints = {429, 503})
    void whoeverMayAskAgainIsToldWhen(int status) {
        Response response = mappers.problem(ProblemException.of(status, "busy", "busy"));

        assertThat(response.getStatus()).isEqualTo(status);
        assertThat(response.getHeaderString("Retry-After")).isEqualTo("1");
    }

    @ParameterizedTest
    @MethodSource("wrapped")
    void aWrappedRefusalKeepsWhenToAskAgain(Throwable wrapped) {
        Response response = mappers.unexpected(wrapped);

        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(response.getHeaderString("Retry-After")).isEqualTo("1");
    }

    static Throwable[] wrapped() {
        ProblemException busy = ProblemException.of(429, "busy", "busy");
        return new Throwable[] {new CompletionException(busy), new CompositeException(busy, new SocketException("x"))};
    }

    @Test
    void aRefusalThatTheFrameworkWrapsKeepsWhenToAskAgain() {
        Response response =
                mappers.framework(new WebApplicationException(ProblemException.of(429, "busy", "busy"), 400));

        assertThat(response.getStatus()).isEqualTo(429);
        assertThat(response.getHeaderString("Retry-After")).isEqualTo("1");
    }

    @Test
    void whatNothingTellsTheEndOfIsNotSaidToPass() {
        Problem full = Problem.of(429, "queue-full", "full", List.of());

        assertThat(mappers.problem(new ProblemException(full, Optional.empty())).getHeaderString("Retry-After"))
                .isNull();
        assertThat(mappers.problem(new ProblemException(full, Optional.of(Duration.ofMillis(1_001))))
                        .getHeaderString("Retry-After"))
                .isEqualTo("2");
    }

    @ParameterizedTest
    @ValueSource(strings = {"42601", "42501", "23502"})
    void whatIsWrongInTheServiceIsNoOutage(String sqlState) {
        Response response = mappers.unexpected(new PgException("no", "ERROR", sqlState, ""));

        assertThat(response.getStatus()).isEqualTo(500);
    }

    record Group(String name, GpuAmount reserved) {}

    record Body(String name, List<Group> groups, Map<String, String> labels, int number) {}

    static String[][] unreadable() {
        return new String[][] {
            {"{'name':'a','name':'b'}", "name", "each field once"},
            {"{'groups':[{'name':'a'},{'name':'b','name':'c'}]}", "groups[1].name", "each field once"},
            {"{'groups':['a']}", "groups[0]", "an object"},
            {"{'groups':'a'}", "groups", "a list"},
            {"{'groups':[{'reserved':'1e1'}]}", "groups[0].reserved", GpuAmount.ACCEPTED},
            {"{'labels':[]}", "labels", "an object"},
            {"{'labels':{'a':{}}}", "labels.a", "a text"},
            {"{'number':99999999999}", "number", "a whole number from -2147483648 to 2147483647"},
            {"{'number':1.5}", "number", "a whole number"},
            {"{'number':'1'}", "number", "a whole number"},
            {"{", "body", "a JSON document"},
            {"", "body", "a JSON document"},
            {"{'number':}", "body", "a JSON document"},
            {"{'labels':" + "{'a':".repeat(2_000), "labels.a", "a text"},
            {"[".repeat(2_000), "body", "an object"},
            {
                "{'number':" + "9".repeat(2_000) + "}",
                "body",
                "at most 1000 levels, names of 50000 characters and numbers of 1000 digits"
            },
        };
    }

    @ParameterizedTest
    @MethodSource("unreadable")
    void whatCannotBeReadIsNamedWithWhatWouldDo(String text, String field, String accepted) {
        JacksonException failure = catchThrowableOfType(
                JacksonException.class, () -> JsonSettings.newMapper().readValue(text.replace('\'', '"'), Body.class));

        Problem problem = (Problem) mappers.json(failure).getEntity();

        assertThat(problem.status()).isEqualTo(400);
        assertThat(problem.errors()).singleElement().satisfies(error -> {
            assertThat(error.field()).isEqualTo(field);
            assertThat(error.accepted()).isEqualTo(accepted);
            assertThat(error.message()).doesNotContain("Source", "com.fasterxml", "java.", "`");
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"1e1", "-0.0", "+1", "1.", ".5", "1.0000", "00000001", "1000000.001", "", "\u0661"})
    void amountsThatTheContractDoesNotKnowAreRefused(String text) {
        assertThatThrownBy(() -> GpuAmount.parse(text)).isInstanceOf(IllegalArgumentException.class);
    }
}
