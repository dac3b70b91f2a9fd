package io.quartermaster.platform;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.pgclient.PgException;
import jakarta.ws.rs.core.Response;
import java.net.ConnectException;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** What callers hear of failures that are not theirs. */
class ProblemMappersTest {

    private final ProblemMappers mappers = new ProblemMappers();

    @Test
    void databaseThatIsRestartedIsATimeToTryAgain() {
        for (String state : new String[] {"57P01", "57P02", "57P03"}) {
            assertThat(status(new PgException("ends", "FATAL", state, ""))).isEqualTo(503);
        }
        assertThat(status(new CompletionException(new ConnectException("refused"))))
                .isEqualTo(503);
    }

    @Test
    void otherFailuresOfTheDatabaseAreFailures() {
        assertThat(status(new PgException("no such column", "ERROR", "42703", "")))
                .isEqualTo(500);
    }

    private int status(Throwable failure) {
        try (Response response = mappers.anything(failure)) {
            return response.getStatus();
        }
    }
}
