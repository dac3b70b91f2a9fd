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
 * How the processes of an attempt are made to stand still off their devices, and to go on again: by SIGSTOP and SIGCONT
 * alone where the devices hold no memory, else with cuda-checkpoint before and after.
 *
 * <p>cuda-checkpoint (github.com/NVIDIA/cuda-checkpoint, README; options as of version 580.65.06) works on one process:
 * {@code --action lock} holds back further calls to CUDA, {@code checkpoint} waits for what was submitted, copies the
 * devices' memory to the machine's and lets go of the devices; {@code restore} and {@code unlock} go the way back, the
 * first with {@code --device-map} where the devices are others. It needs a thread of the process itself, so it comes
 * before SIGSTOP and after SIGCONT. All processes are locked before the first is moved, as they may wait for each other. Who begins
 * to use CUDA meanwhile is moved as well, up to the moment at which all are stopped.
 *
 * @param cudaCheckpoint the program; empty where there is no device memory to move
 */
public record GpuSuspender(Optional<Path> cudaCheckpoint) {
    private static final String SIGNALS = "signals";
    private static final long ASK_LIMIT_MILLIS = 10_000;
    private static final long UNDO_LIMIT_MILLIS = 30_000;
    private static final long RESTORE_LIMIT_MILLIS = 600_000;

    static GpuSuspender parse(String text) {
        return new GpuSuspender(text.equals(SIGNALS) ? Optional.empty() : Optional.of(Path.of(text)));
    }

    /** What {@link #parse} reads. */
    @Override
    public String toString() {
        return cudaCheckpoint.map(Path::toString).orElse(SIGNALS);
    }

    /** Whether a program is a cuda-checkpoint that knows the actions; older ones can only toggle. */
    public static boolean knowsActions(Path program) {
        try {
            return Commands.output(ASK_LIMIT_MILLIS, program.toString(), "--help")
                    .contains("--action");
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Returns when all processes of the attempt stand still and hold no device. Else they run on as before, as far as
     * that can be: cuda-checkpoint does not promise it after an error.
     *
     * @param leader of its process group
     * @throws IOException with the reason, also when it takes longer than {@code limitMillis}
     */
    void suspend(long leader, String attemptId, long limitMillis) throws IOException, InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(limitMillis);
        Set<Long> locked = new TreeSet<>();
        Set<Long> moved = new TreeSet<>();
        try {
            for (Set<Long> found = onDevices(leader, attemptId, moved);
                    !found.isEmpty();
                    found = onDevices(leader, attemptId, moved)) {
                for (long pid : found) {
                    long left = left(deadline);
                    locked.add(pid);
                    act("lock", pid, left, "--timeout", Long.toString(left));
                }
                for (long pid : found) {
                    moved.add(pid);
                    act("checkpoint", pid, left(deadline));
                }
            }
            if (!ProcessGroup.stop(leader, attemptId, left(deadline))) {
                throw new IOException("a process does not stop");
            }
        } catch (IOException | InterruptedException e) {
            undo(leader, attemptId, locked, moved);
            throw e;
        }
    }

    private void undo(long leader, String attemptId, Set<Long> locked, Set<Long> moved) {
        boolean interrupted = Thread.interrupted();
        ProcessGroup.goOn(leader, attemptId);
        for (long pid : moved) {
            tryTo("restore", pid);
        }
        for (long pid : locked) {
            tryTo("unlock", pid);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void tryTo(String action, long pid) {
        try {
            act(action, pid, UNDO_LIMIT_MILLIS);
        } catch (IOException e) {
            System.err.println(e.getMessage());
        }
    }

    /**
     * Lets what {@link #suspend} stopped go on.
     *
     * @param deviceMap for {@code --device-map}; empty where the devices are those it had
     */
    void resume(long leader, String attemptId, String deviceMap) throws IOException {
        ProcessGroup.goOn(leader, attemptId);
        Set<Long> onDevices = onDevices(leader, attemptId, Set.of());
        for (long pid : onDevices) {
            if (deviceMap.isEmpty()) {
                act("restore", pid, RESTORE_LIMIT_MILLIS);
            } else {
                act("restore", pid, RESTORE_LIMIT_MILLIS, "--device-map", deviceMap);
            }
        }
        for (long pid : onDevices) {
            act("unlock", pid, RESTORE_LIMIT_MILLIS);
        }
    }

    /** The processes, but for some, that use CUDA: those for which there is a thread to restore them (so CRIU's plugin tells them, too). */
    private Set<Long> onDevices(long leader, String attemptId, Set<Long> but) {
        Set<Long> found = new TreeSet<>();
        if (cudaCheckpoint.isPresent()) {
            String program = cudaCheckpoint.get().toString();
            Set<Long> others = new TreeSet<>(ProcessGroup.members(leader, attemptId));
            others.removeAll(but);
            for (long pid : others) {
                try {
                    Commands.output(ASK_LIMIT_MILLIS, program, "--get-restore-tid", "--pid", Long.toString(pid));
                    found.add(pid);
                } catch (IOException e) {
                    // It does not use CUDA.
                }
            }
        }
        return found;
    }

    private void act(String action, long pid, long limitMillis, String... more) throws IOException {
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

    private static long left(long deadlineNanos) throws IOException {
        long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
        if (left <= 0) {
            throw new IOException("it took longer than its part of the grace");
        }
        return left;
    }

    /**
     * Which device takes the place of which, as {@code --device-map} wants it. It must name every device that the driver
     * knew of the process, so it is a permutation of all of the node; empty where each device stays itself.
     *
     * @param uuids of the node's devices, by index
     * @param before those it had, in the order in which the work counts them
     * @param after those it gets, one for each of them
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
        // Whoever can stay does; the others fill the gaps in order.
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
