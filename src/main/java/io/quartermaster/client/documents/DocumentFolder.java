package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.output.CommandFailure;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the documents of files, of folders with all below them, and of standard input. A document may also be a list of
 * documents under {@code items}.
 */
final class DocumentFolder {

    private static final Pattern DOCUMENT = Pattern.compile("[^.].*\\.(yaml|yml|json)");
    private static final int DEEPEST = 20;

    private final DocumentFile reader;

    DocumentFolder(FieldTypes types) {
        reader = new DocumentFile(types, "a document", "a mapping with the fields kind, name and spec");
    }

    /** @param places files, folders, or {@code -} */
    List<StatedObject> read(List<String> places, InputStream input) {
        List<StatedObject> objects = new ArrayList<>();
        for (String place : places) {
            for (String file : files(place)) {
                reader.read(file, input).forEach(document -> add(document, file, objects));
            }
        }
        if (objects.isEmpty()) {
            throw CommandFailure.usage(String.join(", ", places) + " has no document");
        }
        return objects;
    }

    private static void add(ObjectNode document, String file, List<StatedObject> objects) {
        JsonNode items = document.path("items");
        if (!items.isArray()) {
            objects.add(StatedObject.of(document, file));
            return;
        }
        for (JsonNode item : items) {
            if (!(item instanceof ObjectNode fields)) {
                throw CommandFailure.usage(file + ": an item is not a document");
            }
            objects.add(StatedObject.of(fields, file));
        }
    }

    /** The place itself, or the files of documents in a folder, in the order of their paths. */
    private static List<String> files(String place) {
        if (place.equals("-") || !Files.isDirectory(Path.of(place))) {
            return List.of(place);
        }
        try (Stream<Path> below = Files.walk(Path.of(place), DEEPEST)) {
            return below.filter(Files::isRegularFile)
                    .filter(file ->
                            DOCUMENT.matcher(file.getFileName().toString()).matches())
                    .sorted()
                    .map(Path::toString)
                    .toList();
        } catch (IOException e) {
            throw CommandFailure.usage("cannot read " + place + ": " + e.getMessage());
        }
    }
}
