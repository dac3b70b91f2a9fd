package io.quartermaster.workloads;

import java.util.Locale;

/**
 * The purpose of a workload. It gives the default priority and preemptibility of a submission:
 *
 * <table>
 *   <caption>Defaults by type</caption>
 *   <tr><th>type</th><th>priority</th><th>preemptible</th></tr>
 *   <tr><td>training</td><td>50</td><td>yes</td></tr>
 *   <tr><td>distributed-training</td><td>50</td><td>yes</td></tr>
 *   <tr><td>inference</td><td>125</td><td>no</td></tr>
 *   <tr><td>workspace</td><td>100</td><td>no</td></tr>
 *   <tr><td>service</td><td>100</td><td>no; CPU only</td></tr>
 * </table>
 *
 * <p>Within a group, higher priorities start first. A workload that is not preemptible runs only within the reserved
 * amount of its group.
 */
public enum WorkloadType {
    TRAINING(50, true),
    DISTRIBUTED_TRAINING(50, true),
    INFERENCE(125, false),
    WORKSPACE(100, false),
    /** Uses no GPU: a queue whose profile has GPUs refuses it. */
    SERVICE(100, false);

    private final int defaultPriority;
    private final boolean defaultPreemptible;

    WorkloadType(int defaultPriority, boolean defaultPreemptible) {
        this.defaultPriority = defaultPriority;
        this.defaultPreemptible = defaultPreemptible;
    }

    public int defaultPriority() {
        return defaultPriority;
    }

    public boolean defaultPreemptible() {
        return defaultPreemptible;
    }

    /** Whether a profile whose workers have GPUs, or have none, suits this type. */
    public boolean fits(boolean withGpus) {
        return this != SERVICE || !withGpus;
    }

    /** The word for it in the API and the database. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static WorkloadType of(String word) {
        for (WorkloadType type : values()) {
            if (type.word().equals(word)) {
                return type;
            }
        }
        throw new IllegalArgumentException("unknown type of workload: " + word);
    }
}
