package io.quartermaster.workloads;

import java.util.Locale;

/**
 * What a workload is for. It decides the priority and the preemptibility of a submission that states none:
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
 * <p>Higher priorities go first within a group. What is not preemptible runs only within what its group has reserved.
 */
public enum WorkloadType {
    TRAINING(50, true),
    DISTRIBUTED_TRAINING(50, true),
    INFERENCE(125, false),
    WORKSPACE(100, false),
    /** Uses no GPU: a queue whose profile has some refuses it. */
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

    /** Whether work of this type may be submitted to a profile whose workers have GPUs, or have none. */
    public boolean fits(boolean withGpus) {
        return this != SERVICE || !withGpus;
    }

    /** As the API and the database write it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    public static WorkloadType of(String word) {
        for (WorkloadType type : values()) {
            if (type.word().equals(word)) {
                return type;
            }
        }
        throw new IllegalArgumentException("no type of workload: " + word);
    }
}
