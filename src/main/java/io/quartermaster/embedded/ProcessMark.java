package io.quartermaster.embedded;

import java.time.Instant;
import java.util.Optional;

/**
 * The identity of a process: its pid and its start time, because pids are reused. In pid files it is two numbers with a
 * space between them.
 *
 * @param startMillis milliseconds since 1970 as the system reports them, -1 where it does not
 */
public record ProcessMark(long pid, long startMillis) {

    /**
     * The tolerated difference between two readings of one process's start time, in case the system's clock was set
     * meanwhile.
     */
    private static final long TOLERANCE_MILLIS = 5_000;

    public static ProcessMark of(ProcessHandle process) {
        return new ProcessMark(process.pid(), startOf(process));
    }

    public static Optional<ProcessMark> parse(String text) {
        String[] words = text.strip().split(" ");
        if (words.length != 2 || !words[0].matches("\\d{1,18}") || !words[1].matches("-?\\d{1,18}")) {
            return Optional.empty();
        }
        return Optional.of(new ProcessMark(Long.parseLong(words[0]), Long.parseLong(words[1])));
    }

    /** The process, if it is still alive and the same. */
    public Optional<ProcessHandle> find() {
        return ProcessHandle.of(pid)
                .filter(ProcessHandle::isAlive)
                .filter(process -> Math.abs(startOf(process) - startMillis) <= TOLERANCE_MILLIS);
    }

    @Override
    public String toString() {
        return pid + " " + startMillis;
    }

    private static long startOf(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(-1L);
    }
}
