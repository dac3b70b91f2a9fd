package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.documents.DocumentFile;
import io.quartermaster.client.documents.FieldTypes;
import io.quartermaster.client.output.CommandFailure;
import java.io.InputStream;
import java.util.List;
import java.util.Set;

/** Submissions in a file of YAML or JSON: one per document, with the fields of the API's body. */
final class SubmissionFile {

    private static final DocumentFile FILE = new DocumentFile(
            new FieldTypes(
                    Set.of("priority"),
                    Set.of("preemptible", "dedicatedOnly", "hold"),
                    Set.of("maxRuntime"),
                    Set.of("environment", "labels")),
            "a submission",
            "a mapping with fields such as queue, name and command");

    private SubmissionFile() {}

    /** Reads a file, or standard input for {@code -}. */
    static List<ObjectNode> read(String file, InputStream input) {
        return require(file, FILE.read(file, input));
    }

    static List<ObjectNode> parse(String file, String text) {
        return require(file, FILE.parse(file, text));
    }

    private static List<ObjectNode> require(String file, List<ObjectNode> submissions) {
        if (submissions.isEmpty()) {
            throw CommandFailure.usage(file + " has no submission");
        }
        return submissions;
    }
}
