package io.quartermaster.cli.load;

import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;

/**
 * The processor time that the service and PostgreSQL have used, read from {@code /proc}: only on Linux.
 *
 * @param service the pid of the service
 * @param postgres the pid of PostgreSQL's first process, whose children serve the connections
 */
public record ProcessorTimes(long service, long postgres) {

    /** Fields of {@code /proc/PID/stat} after the name, see proc_pid_stat(5); those of children count ended ones. */
    private static final int USER = 11;

    private static final int SYSTEM = 12;
    private static final int CHILDREN_USER = 13;
    private static final int CHILDREN_SYSTEM = 14;

    /** Clock ticks per second in these files, on every architecture that this program supports. */
    private static final double TICKS_PER_SECOND = 100;

    /**
     * Seconds of processor time since the processes started.
     *
     * @param compiler the part of the service's time in which the JVM compiled code, which ends once it is warm
     */
    public record Seconds(double service, double compiler, double postgres) {

        Seconds minus(Seconds earlier) {
            return new Seconds(service - earlier.service, compiler - earlier.compiler, postgres - earlier.postgres);
        }
    }

    Seconds now() {
        try {
            double database = seconds(Path.of("/proc", Long.toString(postgres)), true);
            for (ProcessHandle child : ProcessHandle.of(postgres).stream()
                    .flatMap(ProcessHandle::descendants)
                    .toList()) {
                database += seconds(Path.of("/proc", Long.toString(child.pid())), false);
            }
            Path process = Path.of("/proc", Long.toString(service));
            return new Seconds(seconds(process, false), compilerSeconds(process), database);
        } catch (IOException e) {
            throw new ApiFailure("Processor times can be read only on Linux: " + e);
        }
    }

    private static double compilerSeconds(Path process) throws IOException {
        double sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(process.resolve("task"))) {
            for (Path thread : threads) {
                String name = read(thread.resolve("comm"));
                if (name.startsWith("C1 Compiler") || name.startsWith("C2 Compiler")) {
                    sum += seconds(thread, false);
                }
            }
        }
        return sum;
    }

    private static double seconds(Path folder, boolean withEnded) throws IOException {
        String text = read(folder.resolve("stat"));
        if (text.isEmpty()) {
            return 0;
        }
        List<String> fields = List.of(text.substring(text.lastIndexOf(')') + 2).split(" "));
        long ticks = Long.parseLong(fields.get(USER)) + Long.parseLong(fields.get(SYSTEM));
        if (withEnded) {
            ticks += Long.parseLong(fields.get(CHILDREN_USER)) + Long.parseLong(fields.get(CHILDREN_SYSTEM));
        }
        return ticks / TICKS_PER_SECOND;
    }

    /** The content of a file; empty when its process or thread has just ended. */
    private static String read(Path file) throws IOException {
        try {
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            return "";
        }
    }
}
