package io.quartermaster.agent;

import io.quartermaster.agent.supervisor.Supervisor;
import io.quartermaster.agent.supervisor.WorkStarter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.Utf8Entry;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.jspecify.annotations.Nullable;

/**
 * The supervisor as a separate program: a jar in the state folder, named by the hash of its content, with only the
 * classes that {@link Supervisor} and {@link WorkStarter} need. The work's user may read it, because the starter runs
 * as that user. So the agent can be replaced while supervisors of the older version continue: a Java process fails at
 * its next class load if its jar has been replaced.
 */
public final class SupervisorProgram {
    private static final String PACKAGE = "io/quartermaster/agent/";
    private static final Pattern CLASS_NAME = Pattern.compile(PACKAGE + "[A-Za-z0-9_$/]+");

    private final Path jar;

    private SupervisorProgram(Path jar) {
        this.jar = jar;
    }

    public static SupervisorProgram install(Path folder) throws IOException {
        byte[] content = jar(classes());
        Path jar = folder.resolve("supervisor-" + digest(content) + ".jar");
        if (!Files.exists(jar)) {
            Path temporary = Files.createTempFile(folder, "supervisor", ".tmp");
            Files.write(temporary, content);
            Files.setPosixFilePermissions(temporary, PosixFilePermissions.fromString("rw-r--r--"));
            Files.move(temporary, jar, StandardCopyOption.ATOMIC_MOVE);
        }
        return new SupervisorProgram(jar);
    }

    List<String> command(Path attemptFolder) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx24m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Xshare:auto",
                "-XX:-UsePerfData",
                "-XX:+ExitOnOutOfMemoryError",
                "-cp",
                jar.toString(),
                Supervisor.class.getName(),
                attemptFolder.toString());
    }

    /** The last of the arguments that precede the command of the work. */
    List<String> starter() {
        return WorkStarter.command(jar);
    }

    /** The supervisor's classes and, transitively, every class of this program that they reference. */
    private static SortedMap<String, byte[]> classes() throws IOException {
        SortedMap<String, byte[]> found = new TreeMap<>();
        Deque<String> open = new ArrayDeque<>(List.of(Supervisor.class.getName().replace('.', '/')));
        while (!open.isEmpty()) {
            String name = open.removeFirst();
            byte @Nullable [] bytes = found.containsKey(name) ? null : load(name);
            if (bytes != null) {
                found.put(name, bytes);
                for (PoolEntry entry : ClassFile.of().parse(bytes).constantPool()) {
                    if (entry instanceof Utf8Entry text) {
                        Matcher names = CLASS_NAME.matcher(text.stringValue());
                        while (names.find()) {
                            open.addLast(names.group());
                        }
                    }
                }
            }
        }
        return found;
    }

    private static byte @Nullable [] load(String name) throws IOException {
        try (InputStream stream = SupervisorProgram.class.getClassLoader().getResourceAsStream(name + ".class")) {
            return stream == null ? null : stream.readAllBytes();
        }
    }

    /** Builds a jar without compression and without times: the same classes give the same bytes, and load faster. */
    private static byte[] jar(SortedMap<String, byte[]> classes) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            for (var entry : classes.entrySet()) {
                CRC32 sum = new CRC32();
                sum.update(entry.getValue());
                ZipEntry file = new ZipEntry(entry.getKey() + ".class");
                file.setMethod(ZipEntry.STORED);
                file.setSize(entry.getValue().length);
                file.setCrc(sum.getValue());
                file.setTime(0);
                zip.putNextEntry(file);
                zip.write(entry.getValue());
            }
        }
        return bytes.toByteArray();
    }

    private static String digest(byte[] content) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(content);
            return HexFormat.of().formatHex(digest, 0, 8);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
