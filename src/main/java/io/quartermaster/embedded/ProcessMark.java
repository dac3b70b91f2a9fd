package io.quartermaster.embedded;

import java.time.Instant;
import java.util.Optional;

/**
 * Which process it was: its pid and when it started, since pids are used again. As text two numbers with a space between, for pid files.
 *
 * @param startMillis milliseconds since 1970 as the system says it, -1 where it says nothing
 */
public record ProcessMark(long pid, long startMillis) {

    /** How far two readings of one process's start time may lie apart when the system's clock was set meanwhile. */
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

    /** The process, if it is still that one and alive. */
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
