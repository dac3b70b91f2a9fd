package io.quartermaster.platform.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.smallrye.mutiny.TimeoutException;
import io.vertx.pgclient.PgException;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class DatabaseFailuresTest {

    @Test
    void outagesTimeoutsAndLocksPassByThemselves() {
        assertThat(DatabaseFailures.isTransient(new TimeoutException())).isTrue();
        assertThat(DatabaseFailures.isTransient(new IllegalStateException(new IOException("reset by peer"))))
                .isTrue();
        assertThat(DatabaseFailures.isTransient(new TransactionTimeoutException("late")))
                .isTrue();
        for (String state : new String[] {"57014", "57P01", "40001", "40P01", "53300", "08006", "55P03", "25P03"}) {
            assertThat(DatabaseFailures.isTransient(refusal(state))).as(state).isTrue();
        }
    }

    @Test
    void whatTheSameDataBringAgainDoesNot() {
        for (String state : new String[] {"23505", "22P02", "42703", "25P02"}) {
            assertThat(DatabaseFailures.isTransient(refusal(state))).as(state).isFalse();
            assertThat(DatabaseFailures.isRefusal(refusal(state))).as(state).isTrue();
        }
        assertThat(DatabaseFailures.isTransient(new IllegalArgumentException("not a group path")))
                .isFalse();
    }

    @Test
    void onlyALockThatWasNotFreeIsALockTimeout() {
        assertThat(DatabaseFailures.isLockTimeout(new IllegalStateException(refusal("55P03"))))
                .isTrue();
        assertThat(DatabaseFailures.isLockTimeout(refusal("57014"))).isFalse();
    }

    private static PgException refusal(String state) {
        return new PgException("refused", "ERROR", state, "");
    }
}
