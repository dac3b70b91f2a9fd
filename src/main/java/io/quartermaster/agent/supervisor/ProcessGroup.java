package io.quartermaster.agent.supervisor;

import io.quartermaster.agent.supervisor.AttemptFolder.Leader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A program and all processes that it started, for sending signals to all of them and checking that all have ended.
 *
 * <p>The program leads its own session. On Linux, three properties identify its processes: its session, its process
 * group, and the variable {@code QM_ATTEMPT_ID} in a process's environment, which also finds daemons that left both. A
 * process that leaves its session and clears its environment escapes; only containers prevent that. On other systems
 * there is only the process group.
 */
public final class ProcessGroup {
    /** The variable that identifies the processes of an attempt. */
    public static final String ATTEMPT_VARIABLE = "QM_ATTEMPT_ID";

    private static final Path PROC = Path.of("/proc");
    private static final boolean HAS_PROC = Files.isReadable(PROC.resolve("self/stat"));
    private static final long DRAIN_TIMEOUT_MILLIS = 2_000;
    private static final int ROUNDS_BEFORE_RELEASE = 10;

    enum Signal {
        TERM,
        KILL,
        STOP,
        CONT
    }

    /** Whether this machine lists all processes of a program, so that all of them can be suspended. */
    public static boolean seesAll() {
        return HAS_PROC;
    }

    private final Process leader;
    private final Thread drain;

    private ProcessGroup(Process leader, Thread drain) {
        this.leader = leader;
        this.drain = drain;
    }

    /**
     * Starts a program with a fixed environment and sends it a message on its standard input. The output of the program
     * and of its descendants goes to {@code output}. The calling thread must live until the program ends: with
     * PR_SET_PDEATHSIG, the kernel treats the end of the thread as the end of the parent.
     *
     * @param launcher programs that may run as root, so they get nothing from the work: neither its variables nor its
     * folder
     */
    static ProcessGroup start(List<String> launcher, String attemptId, byte[] message, AttemptOutput attemptOutput)
            throws IOException {
        ProcessBuilder builder = new ProcessBuilder(launcher)
                .directory(new File("/"))
                .redirectInput(ProcessBuilder.Redirect.PIPE)
                .redirectErrorStream(true);
        Commands.cleanEnvironment(builder.environment());
        builder.environment().put(ATTEMPT_VARIABLE, attemptId);
        Process process = builder.start();
        Thread.ofPlatform().daemon().name("message").start(() -> send(message, process));
        Thread drain = Thread.ofPlatform().daemon().name("output").start(() -> drain(process, attemptOutput));
        return new ProcessGroup(process, drain);
    }

    /** Runs on its own thread: a message may be longer than a pipe holds, and the reader may never read it. */
    private static void send(byte[] message, Process process) {
        try (OutputStream stream = process.getOutputStream()) {
            stream.write(message);
        } catch (IOException e) {
            // The program ended before it read the whole message; its exit code and output show the reason.
        }
    }

    /** Continues to read even if writing fails, for example on a full disk: the work must not block on its output. */
    private static void drain(Process process, AttemptOutput attemptOutput) {
        byte[] buffer = new byte[16 * 1024];
        boolean complained = false;
        try (InputStream stream = process.getInputStream()) {
            for (int length = stream.read(buffer); length >= 0; length = stream.read(buffer)) {
                try {
                    attemptOutput.append(buffer, length);
                } catch (IOException e) {
                    if (!complained) {
                        System.err.println("output is lost: " + e);
                    }
                    complained = true;
                }
            }
        } catch (IOException e) {
            // The pipe was closed because the attempt has ended.
        }
    }

    Leader leader() {
        return Leader.of(leader.toHandle());
    }

    /** Whether the program itself has ended within the time; its descendants may still run. */
    boolean hasEndedWithin(long millis) throws InterruptedException {
        return leader.waitFor(millis, TimeUnit.MILLISECONDS);
    }

    boolean isAlive() {
        return leader.isAlive();
    }

    /** The exit code as a shell reports it: 128 + n for a program that signal n ended. */
    int exitCode() {
        return leader.exitValue();
    }

    void signal(Signal signal) {
        signal(leader.pid(), signal);
    }

    /** Kills the remaining processes of the group, and reads the last of its output. False if a process did not die. */
    boolean end(String attemptId, long limitMillis) throws InterruptedException {
        boolean gone = kill(Optional.of(leader.pid()), attemptId, limitMillis);
        drain.join(Duration.ofMillis(DRAIN_TIMEOUT_MILLIS));
        return gone;
    }

    /**
     * Kills every process of the attempt until none is left, for at most {@code limitMillis}. A process in
     * uninterruptible sleep, for example in a driver, dies only when it wakes; then this returns false.
     */
    public static boolean kill(Optional<Long> group, String attemptId, long limitMillis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        while (true) {
            group.ifPresent(pid -> signal(pid, Signal.KILL));
            Set<Long> left = HAS_PROC ? members(group, attemptId) : Set.of();
            left.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
            if (left.isEmpty()) {
                return true;
            }
            if (System.nanoTime() - deadline >= 0) {
                return false;
            }
            // Most of them are no children of the agent, so the JDK has no event for their ends.
            Thread.sleep(20);
        }
    }

    /**
     * Stops every process of the attempt until none runs, for at most {@code limitMillis}. A stopped process starts no
     * other; a process that started meanwhile is stopped in the next round.
     *
     * <p>A process that has called vfork(2) cannot stop until its child has replaced itself by another program. If the
     * child was stopped before that, neither would ever move. So all processes continue for a moment after some rounds.
     */
    static boolean stop(long leader, String attemptId, long limitMillis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        int still = 0;
        for (int round = 1; ; round++) {
            Set<Long> moving = new TreeSet<>(members(Optional.of(leader), attemptId));
            moving.removeIf(ProcessGroup::isStopped);
            still = moving.isEmpty() ? still + 1 : 0;
            if (still == 2) {
                return true;
            }
            if (System.nanoTime() - deadline >= 0) {
                return false;
            }
            if (!moving.isEmpty() && round % ROUNDS_BEFORE_RELEASE == 0) {
                resume(leader, attemptId);
            } else {
                signal(moving, Signal.STOP);
            }
            // The JDK has no event for a process that stands still.
            Thread.sleep(10);
        }
    }

    /** Resumes every process of the attempt. */
    static void resume(long leader, String attemptId) {
        signal(members(Optional.of(leader), attemptId), Signal.CONT);
    }

    /** Every process of the attempt; none if this machine does not list them. */
    static Set<Long> members(long leader, String attemptId) {
        return HAS_PROC ? members(Optional.of(leader), attemptId) : Set.of();
    }

    private static boolean isStopped(long pid) {
        try {
            String state = statusFields(PROC.resolve(Long.toString(pid)))[0];
            return state.equals("T") || state.equals("t");
        } catch (IOException e) {
            return true; // It ended meanwhile.
        }
    }

    private static void signal(Set<Long> pids, Signal signal) {
        if (pids.isEmpty()) {
            return;
        }
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "kill -s \"$@\"", "sh", signal.name()));
        pids.forEach(pid -> command.add(Long.toString(pid)));
        try {
            run(command);
        } catch (IOException e) {
            System.err.println("cannot signal: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void signal(long group, Signal signal) {
        try {
            // The shell's own kill: /bin/kill is missing on small images, and Java can only signal single processes.
            run(List.of("/bin/sh", "-c", "kill -s \"$1\" -- \"-$2\"", "sh", signal.name(), Long.toString(group)));
        } catch (IOException e) {
            // No memory for another process: without one, Java can at least signal the leader.
            ProcessHandle.of(group)
                    .ifPresent(
                            switch (signal) {
                                case TERM -> ProcessHandle::destroy;
                                case KILL -> ProcessHandle::destroyForcibly;
                                case STOP, CONT -> process -> {};
                            });
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void run(List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(new File("/"))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD);
        Commands.cleanEnvironment(builder.environment());
        builder.start().waitFor(5, TimeUnit.SECONDS);
    }

    private static Set<Long> members(Optional<Long> group, String attemptId) {
        Set<Long> members = new TreeSet<>();
        byte[] mark = ("\0" + ATTEMPT_VARIABLE + "=" + attemptId + "\0").getBytes(StandardCharsets.ISO_8859_1);
        try (Stream<Path> entries = Files.list(PROC)) {
            entries.filter(entry ->
                            Character.isDigit(entry.getFileName().toString().charAt(0)))
                    .filter(entry -> isMember(entry, group, mark))
                    .forEach(entry ->
                            members.add(Long.valueOf(entry.getFileName().toString())));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot list processes", e);
        }
        return members;
    }

    /**
     * The fields from the state on. proc(5): pid (name) state ppid pgrp session ...; the name may contain blanks and
     * parentheses.
     */
    private static String[] statusFields(Path process) throws IOException {
        String stat = Files.readString(process.resolve("stat"), StandardCharsets.ISO_8859_1);
        return stat.substring(stat.lastIndexOf(')') + 2).split(" ", 5);
    }

    private static boolean isMember(Path process, Optional<Long> group, byte[] mark) {
        try {
            String[] fields = statusFields(process);
            if (fields[0].equals("Z") || fields[0].equals("X")) {
                return false;
            }
            if (group.isPresent()) {
                String id = Long.toString(group.get());
                if (fields[2].equals(id) || fields[3].equals(id)) {
                    return true;
                }
            }
            byte[] environment = Files.readAllBytes(process.resolve("environ"));
            String text = "\0" + new String(environment, StandardCharsets.ISO_8859_1);
            return text.contains(new String(mark, StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
            return false; // It ended meanwhile, or belongs to another user.
        }
    }
}
