package io.quartermaster.agent.supervisor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Counts the kernel's OOM kills: in this process's cgroup, or on the whole machine if the cgroup has no count. An exit
 * code alone does not distinguish an OOM kill from any other.
 */
final class OomKillCounter {
    private static final Path CGROUP = Path.of("/proc/self/cgroup");
    private static final Path CGROUPS = Path.of("/sys/fs/cgroup");
    private static final Path MACHINE = Path.of("/proc/vmstat");

    private OomKillCounter() {}

    /** A count that only grows; 0 if the system does not report it. */
    static long count() {
        try {
            // cgroup v2 has one line, "0::/path"; see cgroups(7).
            String own = Files.readString(CGROUP).strip();
            Path events =
                    CGROUPS.resolve(own.substring(own.lastIndexOf(':') + 2)).resolve("memory.events");
            return Files.isReadable(events) ? count(events) : count(MACHINE);
        } catch (IOException e) {
            return 0;
        }
    }

    private static long count(Path file) throws IOException {
        List<String> lines = Files.readAllLines(file);
        for (String line : lines) {
            if (line.startsWith("oom_kill ")) {
                return Long.parseLong(line.substring("oom_kill ".length()).strip());
            }
        }
        return 0;
    }
}
