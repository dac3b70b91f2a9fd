package io.quartermaster.agent.supervisor;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * Suspends the processes of an attempt, frees their devices, and resumes them. If the devices hold no memory, SIGSTOP
 * and SIGCONT suffice. Otherwise cuda-checkpoint runs before and after.
 *
 * <p>cuda-checkpoint (github.com/NVIDIA/cuda-checkpoint, README; options as of version 580.65.06) works on one process.
 * {@code --action lock} blocks further calls to CUDA. {@code checkpoint} waits for submitted work, copies the devices'
 * memory to main memory and releases the devices. {@code restore} and {@code unlock} reverse this; {@code restore}
 * takes a {@code --device-map} if the devices have changed. The program needs a running thread of the process, so it
 * runs before SIGSTOP and after SIGCONT. All processes are locked before the first is checkpointed, as they may wait
 * for each other. Processes that begin to use CUDA meanwhile are checkpointed as well, until all are stopped.
 *
 * @param cudaCheckpoint the program; empty if there is no device memory to move
 */
public record GpuSuspender(Optional<Path> cudaCheckpoint) {
    private static final String SIGNALS = "signals";
    private static final long PROBE_TIMEOUT_MILLIS = 10_000;
    private static final long UNDO_TIMEOUT_MILLIS = 30_000;
    private static final long RESTORE_TIMEOUT_MILLIS = 600_000;

    static GpuSuspender parse(String text) {
        return new GpuSuspender(text.equals(SIGNALS) ? Optional.empty() : Optional.of(Path.of(text)));
    }

    /** The text that {@link #parse} reads. */
    @Override
    public String toString() {
        return cudaCheckpoint.map(Path::toString).orElse(SIGNALS);
    }

    /** Whether a program is a cuda-checkpoint that supports actions; older versions can only toggle. */
    public static boolean knowsActions(Path program) {
        try {
            return Commands.output(PROBE_TIMEOUT_MILLIS, program.toString(), "--help")
                    .contains("--action");
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns when all processes of the attempt are stopped and hold no device. If it fails, they continue as before as
     * far as possible: cuda-checkpoint does not guarantee that after an error.
     *
     * @param leader of its process group
     * @throws IOException with the reason, also if it takes longer than {@code limitMillis}
     */
    void suspend(long leader, String attemptId, long limitMillis) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        Set<Long> locked = new TreeSet<>();
        Set<Long> moved = new TreeSet<>();
        try {
            for (Set<Long> found = processesOnDevices(leader, attemptId, moved);
                    !found.isEmpty();
                    found = processesOnDevices(leader, attemptId, moved)) {
                for (long pid : found) {
                    long left = remainingMillis(deadline);
                    locked.add(pid);
                    runAction("lock", pid, left, "--timeout", Long.toString(left));
                }
                for (long pid : found) {
                    moved.add(pid);
                    runAction("checkpoint", pid, remainingMillis(deadline));
                }
            }
            if (!ProcessGroup.stop(leader, attemptId, remainingMillis(deadline))) {
                throw new IOException("a process does not stop");
            }
        } catch (IOException | InterruptedException e) {
            undo(leader, attemptId, locked, moved);
            throw e;
        }
    }

    private void undo(long leader, String attemptId, Set<Long> locked, Set<Long> moved) {
        boolean interrupted = Thread.interrupted();
        ProcessGroup.resume(leader, attemptId);
        for (long pid : moved) {
            tryAction("restore", pid);
        }
        for (long pid : locked) {
            tryAction("unlock", pid);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void tryAction(String action, long pid) {
        try {
            runAction(action, pid, UNDO_TIMEOUT_MILLIS);
        } catch (IOException e) {
            System.err.println(e.getMessage());
        }
    }

    /**
     * Resumes the processes that {@link #suspend} stopped.
     *
     * @param deviceMap for {@code --device-map}; empty if the devices are the same as before
     */
    void resume(long leader, String attemptId, String deviceMap) throws IOException {
        ProcessGroup.resume(leader, attemptId);
        Set<Long> onDevices = processesOnDevices(leader, attemptId, Set.of());
        for (long pid : onDevices) {
            if (deviceMap.isEmpty()) {
                runAction("restore", pid, RESTORE_TIMEOUT_MILLIS);
            } else {
                runAction("restore", pid, RESTORE_TIMEOUT_MILLIS, "--device-map", deviceMap);
            }
        }
        for (long pid : onDevices) {
            runAction("unlock", pid, RESTORE_TIMEOUT_MILLIS);
        }
    }

    /**
     * The processes that use CUDA, except the given ones. A process uses CUDA if it has a thread that can restore it;
     * CRIU's plugin identifies them in the same way.
     */
    private Set<Long> processesOnDevices(long leader, String attemptId, Set<Long> but) {
        Set<Long> found = new TreeSet<>();
        if (cudaCheckpoint.isPresent()) {
            String program = cudaCheckpoint.get().toString();
            Set<Long> others = new TreeSet<>(ProcessGroup.members(leader, attemptId));
            others.removeAll(but);
            for (long pid : others) {
                try {
                    Commands.output(PROBE_TIMEOUT_MILLIS, program, "--get-restore-tid", "--pid", Long.toString(pid));
                    found.add(pid);
                } catch (IOException e) {
                    // The process does not use CUDA.
                }
            }
        }
        return found;
    }

    private void runAction(String action, long pid, long limitMillis, String... more) throws IOException {
        List<String> command = new ArrayList<>(
                List.of(cudaCheckpoint.orElseThrow().toString(), "--action", action, "--pid", Long.toString(pid)));
        command.addAll(List.of(more));
        try {
            Commands.output(limitMillis, command.toArray(String[]::new));
        } catch (IOException e) {
            throw new IOException(
                    "cannot %s the CUDA state of process %d: %s".formatted(action, pid, e.getMessage()), e);
        }
    }

    private static long remainingMillis(long deadlineNanos) throws IOException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
        if (left <= 0) {
            throw new IOException("the suspension took longer than its part of the grace");
        }
        return left;
    }

    /**
     * The replacement of devices by others, in the form of {@code --device-map}. It must name every device that the
     * driver knew of the process, so it is a permutation of all devices of the node; empty if no device changes.
     *
     * @param uuids of the node's devices, by index
     * @param before the earlier devices, in the order in which the work counts them
     * @param after the new devices, one for each earlier one
     */
    public static String deviceMap(List<String> uuids, List<Integer> before, List<Integer> after) {
        boolean known = before.size() == after.size()
                && before.stream().allMatch(index -> index < uuids.size())
                && after.stream().allMatch(index -> index < uuids.size());
        if (!known || before.equals(after)) {
            return "";
        }
        List<Integer> from = new ArrayList<>(before);
        List<Integer> to = new ArrayList<>(after);
        List<Integer> untaken = new ArrayList<>();
        for (int index = 0; index < uuids.size(); index++) {
            if (!after.contains(index)) {
                untaken.add(index);
            }
        }
        // Devices that can stay do; the others fill the gaps in order.
        List<Integer> others = new ArrayList<>();
        for (int index = 0; index < uuids.size(); index++) {
            if (!before.contains(index)) {
                others.add(index);
            }
        }
        Set<Integer> staying = new HashSet<>(others);
        staying.retainAll(untaken);
        for (int index : staying.stream().sorted().toList()) {
            from.add(index);
            to.add(index);
        }
        others.removeAll(staying);
        untaken.removeAll(staying);
        from.addAll(others);
        to.addAll(untaken);
        List<String> pairs = new ArrayList<>();
        for (int i = 0; i < from.size(); i++) {
            pairs.add(uuids.get(from.get(i)) + "=" + uuids.get(to.get(i)));
        }
        return String.join(",", pairs);
    }
}
