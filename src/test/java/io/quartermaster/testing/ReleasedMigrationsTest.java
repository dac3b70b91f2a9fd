package io.quartermaster.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A released migration never changes: an installation that has run it would refuse to start.
 * {@code ./qm test -Dtest=ReleasedMigrationsTest -DskipITs -Dqm.migrations.release=true} adds the new migrations to the
 * list of released ones.
 */
class ReleasedMigrationsTest {

    private static final Path FOLDER = Path.of("src", "main", "resources", "db", "migration");
    private static final Path LIST = Path.of("src", "test", "resources", "db", "released-migrations.txt");
    private static final String NAME = "V[1-9][0-9]*__[a-z0-9_]+\\.sql";

    @Test
    void releasedMigrationsAreAsTheyWere() throws IOException {
        if (Boolean.getBoolean("qm.migrations.release")) {
            release();
        }

        assertThat(changed(released(), present())).isEmpty();
    }

    @Test
    void everyMigrationHasAVersionOfItsOwn() throws IOException {
        assertThat(present().keySet()).allSatisfy(name -> assertThat(name).matches(NAME));
        assertThat(present().keySet().stream().map(name -> name.substring(0, name.indexOf("__"))))
                .doesNotHaveDuplicates();
    }

    @Test
    void aChangedOrRemovedMigrationIsNamedAndANewOneIsWelcome() {
        Map<String, String> released = Map.of("V1__a.sql", "1", "V2__b.sql", "2", "V3__c.sql", "3");
        Map<String, String> present = Map.of("V1__a.sql", "1", "V2__b.sql", "other", "V4__d.sql", "4");

        assertThat(changed(released, present))
                .containsExactly(
                        "V2__b.sql is released and was changed: restore it from the last release, and put the "
                                + "change into a new migration",
                        "V3__c.sql is released and is gone: restore it from the last release, and undo what it "
                                + "does in a new migration");
    }

    private static List<String> changed(Map<String, String> released, Map<String, String> present) {
        return new TreeMap<>(released)
                .entrySet().stream()
                        .filter(migration -> !migration.getValue().equals(present.get(migration.getKey())))
                        .map(migration -> migration.getKey()
                                + (present.containsKey(migration.getKey())
                                        ? " is released and was changed: restore it from the last "
                                                + "release, and put the change into a new migration"
                                        : " is released and is gone: restore it from the last release, "
                                                + "and undo what it does in a new migration"))
                        .toList();
    }

    private static void release() throws IOException {
        Map<String, String> released = released();
        for (Map.Entry<String, String> migration : new TreeMap<>(present()).entrySet()) {
            if (!released.containsKey(migration.getKey())) {
                Files.writeString(
                        LIST, migration.getKey() + " " + migration.getValue() + "\n", StandardOpenOption.APPEND);
            }
        }
    }

    private static Map<String, String> released() throws IOException {
        return Files.readAllLines(LIST).stream()
                .filter(line -> !line.startsWith("#"))
                .map(line -> line.split(" "))
                .collect(Collectors.toMap(words -> words[0], words -> words[1]));
    }

    private static Map<String, String> present() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            return files.collect(
                    Collectors.toMap(file -> file.getFileName().toString(), ReleasedMigrationsTest::sha256));
        }
    }

    private static String sha256(Path file) {
        try {
            byte[] text = Files.readString(file).replace("\r", "").getBytes(StandardCharsets.UTF_8);
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
        } catch (IOException | NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
