package io.quartermaster.agent.supervisor;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs small programs of the operating system for the agent, each with a time limit, and none with the agent's
 * environment.
 */
public final class Commands {
    /** The folders in which the agent and the work search for programs; the agent's own PATH is not passed on. */
    public static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

    private Commands() {}

    /** The absolute path of a program, if {@link #PATH} has it. */
    public static Optional<String> find(String program) {
        for (String folder : List.of(PATH.split(":"))) {
            Path path = Path.of(folder, program);
            if (Files.isExecutable(path)) {
                return Optional.of(path.toString());
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the standard output of the program; throws an IOException if it fails or takes longer than
     * {@code limitMillis}.
     */
    public static String output(long limitMillis, String... command) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(new File("/"))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .redirectInput(new File("/dev/null"));
        cleanEnvironment(builder.environment());
        Process process = builder.start();
        FutureTask<String> output = new FutureTask<>(
                () -> new String(process.getInputStream().readNBytes(1 << 20), StandardCharsets.UTF_8));
        Thread.ofVirtual().start(output);
        try {
            if (!process.waitFor(limitMillis, TimeUnit.MILLISECONDS)) {
                throw new IOException("%s did not end within %d ms".formatted(command[0], limitMillis));
            }
            if (process.exitValue() != 0) {
                throw new IOException("%s ended with exit code %d".formatted(command[0], process.exitValue()));
            }
            return output.get(limitMillis, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while waiting for " + command[0], e);
        } catch (ExecutionException | TimeoutException e) {
            throw new IOException("cannot read the output of %s".formatted(command[0]), e);
        } finally {
            process.destroyForcibly();
        }
    }

    /** Removes all variables of the caller's environment except those that every program needs to start. */
    public static void cleanEnvironment(Map<String, String> environment) {
        environment.clear();
        environment.put("PATH", PATH);
        environment.put("LANG", "C.UTF-8");
    }
}
