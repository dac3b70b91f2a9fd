package io.quartermaster.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code ./qm test} runs it beside the unit tests, so that no integration test waits for the preparation. */
@OwnProcesses
class PreparedDataIT {

    @Test
    void aCopyHoldsADatabaseAndItsPasswords(@TempDir Path temporary) {
        Path copy = temporary.resolve("data");

        PreparedData.copyTo(copy);

        assertThat(copy.resolve("secrets.properties")).isRegularFile();
        assertThat(copy.resolve("postgres/data/PG_VERSION")).isRegularFile();
    }
}
