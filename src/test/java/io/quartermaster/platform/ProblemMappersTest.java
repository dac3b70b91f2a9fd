package io.quartermaster.platform;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.ClosedConnectionException;
import jakarta.ws.rs.core.Response;
import java.net.ConnectException;
import java.util.concurrent.CompletionException;
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
            new IllegalStateException(ClosedConnectionException.INSTANCE),
        };
    }

    @ParameterizedTest
    @MethodSource("outages")
    void anOutageOfTheDatabaseIsSaidToPassAndIsWorthAskingAgain(Throwable outage) {
        Response response = mappers.anything(outage);

        assertThat(response.getStatus()).isEqualTo(503);
        assertThat(response.getHeaderString("Retry-After")).isEqualTo("1");
        assertThat(((Problem) response.getEntity()).code()).isEqualTo("unavailable");
    }

    @ParameterizedTest
    @ValueSource(strings = {"42601", "42501", "23502"})
    void whatIsWrongInTheServiceIsNoOutage(String sqlState) {
        Response response = mappers.anything(new PgException("no", "ERROR", sqlState, ""));

        assertThat(response.getStatus()).isEqualTo(500);
    }
}
