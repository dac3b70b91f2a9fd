package io.quartermaster.client.output;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/** Why a file cannot be read. The messages of the JDK are often the name of the file alone. */
public final class FileFailure {

    private FileFailure() {}

    /** Such as {@code cannot read job.yaml: no such file}. */
    public static String text(Object file, IOException e) {
        return "cannot read " + file + ": " + reason(e);
    }

    private static String reason(IOException e) {
        return switch (e) {
            case NoSuchFileException missing -> "no such file";
            case AccessDeniedException denied -> "you may not read it";
            case FileSystemException other when other.getReason() != null -> other.getReason();
            default -> String.valueOf(e.getMessage());
        };
    }
}
