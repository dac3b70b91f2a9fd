package io.quartermaster.embedded;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The tools of the operating system that separate a child from the terminal and from root. */
final class ProcessSessions {

    private static final int COMMAND_SECONDS = 10;

    private ProcessSessions() {}

    /**
     * The prefix that runs a command in a session of its own; empty where the system has no such tool. The process
     * keeps its pid.
     */
    static List<String> prefix() {
        return onPath("setsid").map(tool -> List.of(tool.toString())).orElse(List.of());
    }

    static File nothing() {
        return new File("/dev/null");
    }

    static boolean isRoot() {
        return "root".equals(System.getProperty("user.name"));
    }

    static Optional<Path> onPath(String program) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("/usr/bin:/bin:/usr/sbin:/sbin");
        return java.util.Arrays.stream(path.split(File.pathSeparator))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /**
     * Whether a short command succeeds. An interrupt is kept for later, because interrupted threads also stop children.
     */
    static boolean succeeds(String... command) {
        boolean interrupted = Thread.interrupted();
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(nothing())
                    .start();
            return process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException missing) {
            return false;
        } catch (InterruptedException e) {
            interrupted = true;
            return false;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
