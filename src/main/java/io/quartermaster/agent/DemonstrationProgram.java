package io.quartermaster.agent;

import io.quartermaster.agent.protocol.AttemptOrder;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * The program of the demonstration's workloads: it counts steps of half a second up to {@code STEPS}. Its abort
 * callback saves the current step, and the next attempt continues from there. Its only input from the submitter is that
 * number.
 */
public final class DemonstrationProgram {
    public static final List<String> COMMAND = List.of(
            "sh",
            "-c",
            "echo \"$QM_ATTEMPT_ID\" >> \"$QM_CHECKPOINT_DIR/.starts\"; n=$(cat \"$QM_CHECKPOINT_DIR/step\" "
                    + "2>/dev/null || echo 0);"
                    + " echo \"attempt $QM_ATTEMPT begins at step $n on GPUs $CUDA_VISIBLE_DEVICES\";"
                    + " while [ \"$n\" -lt \"$STEPS\" ]; do n=$((n+1)); echo $n > \"$QM_CHECKPOINT_DIR/.now\"; "
                    + "sleep 0.5; done;"
                    + " echo \"done at step $n\"");

    public static final List<String> ABORT_CALLBACK =
            List.of("sh", "-c", "cp \"$QM_CHECKPOINT_DIR/.now\" \"$QM_CHECKPOINT_DIR/step\"");

    private static final Pattern STEPS = Pattern.compile("[0-9]{1,6}");

    private DemonstrationProgram() {}

    public static Map<String, String> environment(int steps) {
        return Map.of("STEPS", Integer.toString(steps));
    }

    /** Whether an order is for this program, without a variable that could make it run anything else. */
    static boolean isOrdered(AttemptOrder order) {
        return order.command().equals(COMMAND)
                && (order.abortCallback().isEmpty() || order.abortCallback().equals(ABORT_CALLBACK))
                && order.environment().entrySet().stream().allMatch(DemonstrationProgram::isHarmless);
    }

    /**
     * The service's own variables begin with QM_ and CUDA_. A submitter cannot set the first, and the shell does not
     * read the second.
     */
    private static boolean isHarmless(Map.Entry<String, String> variable) {
        return variable.getKey().equals("STEPS")
                ? STEPS.matcher(variable.getValue()).matches()
                : variable.getKey().startsWith("QM_") || variable.getKey().startsWith("CUDA_");
    }
}
