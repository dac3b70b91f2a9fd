package io.quartermaster.embedded;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFolderTest {

    private final Path temporary;

    DataFolderTest(@TempDir Path temporary) {
        this.temporary = temporary;
    }

    @Test
    void aFolderWithSomebodyElsesFilesIsLeftAlone() throws IOException {
        Path letters = temporary.resolve("letters");
        Files.createDirectories(letters);
        Files.writeString(letters.resolve("letter.txt"), "dear reader");

        assertThatThrownBy(() -> DataFolder.open(letters))
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("was not made by Quartermaster")
                .hasMessageContaining("QM_DATA_DIR");
        assertThatThrownBy(() -> new DataFolder(letters).empty()).isInstanceOf(StartFailure.class);
        assertThat(letters.resolve("letter.txt")).hasContent("dear reader");
    }

    @Test
    void aFolderThatCannotBeMadeIsMetWithAMessage() throws IOException {
        Path file = Files.writeString(temporary.resolve("file"), "");

        assertThatThrownBy(() -> DataFolder.open(file.resolve("data")))
                .isInstanceOf(StartFailure.class)
                .hasMessageContaining("cannot be written");
    }

    @Test
    void emptyingLeavesOnlyTheFolder() {
        DataFolder folder = DataFolder.open(temporary.resolve("data"));
        Secrets.in(folder).password("a");

        folder.empty();

        assertThat(folder.path()).isEmptyDirectory();
    }

    @Test
    void passwordsAreMadeOnceAndForTheOwnerOnly() throws IOException {
        DataFolder folder = DataFolder.open(temporary.resolve("data"));

        String made = Secrets.in(folder).password("postgres.qm_owner");

        assertThat(made).hasSize(48).isNotEqualTo(Secrets.in(folder).password("postgres.qm_system"));
        assertThat(Secrets.in(folder).password("postgres.qm_owner")).isEqualTo(made);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve("secrets.properties"))))
                .isEqualTo("rw-------");
    }
}
