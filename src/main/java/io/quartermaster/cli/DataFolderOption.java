package io.quartermaster.cli;

import io.quartermaster.embedded.DataFolder;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The option that selects the data folder of a command. */
final class DataFolderOption {

    @Option(
            names = "--data-dir",
            paramLabel = "DIR",
            defaultValue = "${env:QM_DATA_DIR}",
            description = "Folder with all durable data. Default: QM_DATA_DIR, else .qm beside the program")
    private @Nullable Path given;

    DataFolderOption() {}

    Path path() {
        Path chosen = given;
        return chosen == null || chosen.toString().isEmpty()
                ? Installation.home().resolve(".qm")
                : chosen.toAbsolutePath();
    }

    /** The data folder, which need not exist. */
    DataFolder folder() {
        return new DataFolder(path());
    }
}
