package io.quartermaster.agent.protocol;

import static io.quartermaster.agent.protocol.Protocol.check;

import com.fasterxml.jackson.annotation.JsonFormat;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The desired state of one attempt. All fields except {@code desired} stay the same for the life of an attempt; the
 * agent keeps the values that it received first.
 *
 * @param attemptNumber number of the attempt among those of its workload, from 1
 * @param command program and arguments; not read by a shell
 * @param environment of the work, beside what the agent sets ({@code QM_*}, {@code CUDA_*}, which win)
 * @param runUser OS user of the tenant on nodes that isolate tenants by user
 * @param checkpointFolder name of the folder that all attempts of the workload share, unique in the tenant
 * @param abortCallback command that runs before the work gets its signal to stop; empty for none
 * @param maxRuntimeMillis time after which the agent stops the work by itself ({@link StopReason#TIMED_OUT})
 * @param graceMillis time from the request to stop until KILL, for the stops that the agent decides by itself
 * @param resumes the paused attempt of this workload whose processes this one takes over. If they are gone, the attempt
 *     starts like any other. An agent that does not know the field starts the attempt in new processes, and never while
 *     the paused one lives
 */
public record AttemptOrder(
        UUID attemptId,
        UUID workloadId,
        String tenant,
        int attemptNumber,
        List<String> command,
        Map<String, String> environment,
        List<DeviceShare> devices,
        @Nullable String runUser,
        String checkpointFolder,
        List<String> abortCallback,
        @Nullable Long maxRuntimeMillis,
        long graceMillis,
        @Nullable UUID resumes,
        Desired desired) {
    public AttemptOrder {
        Protocol.name("tenant", tenant);
        Protocol.name("checkpointFolder", checkpointFolder);
        if (runUser != null) {
            Protocol.name("runUser", runUser);
        }
        check(attemptNumber >= 1, "attemptNumber must be at least 1, was %s", attemptNumber);
        command = List.copyOf(command);
        check(!command.isEmpty(), "command is empty");
        abortCallback = List.copyOf(abortCallback);
        check(
                command.size() <= Protocol.MAX_ARGUMENTS && abortCallback.size() <= Protocol.MAX_ARGUMENTS,
                "a command has at most %s arguments",
                Protocol.MAX_ARGUMENTS);
        environment = Collections.unmodifiableMap(new TreeMap<>(environment));
        environment.keySet().forEach(Protocol::variable);
        check(
                noNul(command) && noNul(abortCallback) && noNul(environment.values()),
                "the character NUL cannot be passed to a process");
        devices = List.copyOf(devices);
        check(devices.size() <= Protocol.MAX_DEVICES, "devices: at most %s", Protocol.MAX_DEVICES);
        check(maxRuntimeMillis == null || maxRuntimeMillis > 0, "maxRuntimeMillis must be positive");
        check(graceMillis >= 0, "graceMillis must not be negative, was %s", graceMillis);
    }

    private static boolean noNul(Iterable<String> values) {
        for (String value : values) {
            if (value.indexOf('\0') >= 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * A device, or a part of one in thousandths, that the attempt holds.
     *
     * @param instance the MIG instance, if the part is one; null for any other part, or the whole device
     */
    public record DeviceShare(
            int index, int gpuMilli, @Nullable MigInstance instance) {
        public DeviceShare(int index, int gpuMilli) {
            this(index, gpuMilli, null);
        }

        public DeviceShare {
            check(index >= 0, "device index must not be negative, was %s", index);
            check(gpuMilli >= 1 && gpuMilli <= 1_000, "gpuMilli must be from 1 to 1000, was %s", gpuMilli);
        }
    }

    /**
     * A MIG instance.
     *
     * @param profile such as {@code 1g.10gb}
     * @param firstSlice the memory slice at which it begins
     */
    public record MigInstance(String profile, int firstSlice) {
        public MigInstance {
            check(profile.matches("[1-7]g\\.[0-9]{1,4}gb"), "no MIG profile: %s", profile);
            check(firstSlice >= 0 && firstSlice < 8, "firstSlice must be from 0 to 7, was %s", firstSlice);
        }
    }

    /** Whether the attempt should run. */
    @JsonTypeInfo(use = JsonTypeInfo.Id.NAME, property = "kind")
    @JsonSubTypes({
        @JsonSubTypes.Type(value = Desired.Run.class, name = "run"),
        @JsonSubTypes.Type(value = Desired.Stop.class, name = "stop"),
        @JsonSubTypes.Type(value = Desired.Pause.class, name = "pause"),
    })
    public sealed interface Desired {
        /** Start the attempt unless it was started before, and let it run. */
        record Run() implements Desired {}

        /**
         * End the attempt. A repeated request may change the reason and may shorten the remaining grace, never extend
         * it.
         *
         * @param graceMillis time from the agent's receipt of the request until KILL. 0: the request arrives late, and
         * the attempt has the grace that its order states, unless it was asked to stop before. {@link #AT_ONCE_MILLIS}:
         * it is killed immediately, without its abort callback
         */
        record Stop(
                @JsonFormat(with = JsonFormat.Feature.READ_UNKNOWN_ENUM_VALUES_USING_DEFAULT_VALUE)
                StopReason reason,

                long graceMillis)
                implements Desired {
            public static final long AT_ONCE_MILLIS = 1;

            public Stop {
                check(graceMillis >= 0, "graceMillis must not be negative, was %s", graceMillis);
            }
        }

        /**
         * Pause the attempt: stop its processes and free its devices. If that is impossible, end it as
         * {@link StopReason#PREEMPTED}. The service sends this only to agents whose {@link Inventory} states that they
         * can pause.
         *
         * @param graceMillis time from the agent's receipt of the request until the devices are free, in either way
         */
        record Pause(long graceMillis) implements Desired {
            public Pause {
                check(graceMillis >= 0, "graceMillis must not be negative, was %s", graceMillis);
            }
        }
    }
}
