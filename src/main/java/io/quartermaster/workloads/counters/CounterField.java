package io.quartermaster.workloads.counters;

import java.util.Optional;
import java.util.UUID;

/** The name of one counter of a tenant. */
public sealed interface CounterField extends Comparable<CounterField> {

    /**
     * The subject of tenant-wide counters, in place of a policy. A policy counts together with the policies below it.
     */
    String WHOLE_TENANT = "-";

    /** The field's name in Redis. */
    String key();

    @Override
    default int compareTo(CounterField other) {
        return key().compareTo(other.key());
    }

    /** Waiting workloads in a queue. Held ones count too, since they may be released at any time. */
    record Waiting(UUID queue) implements CounterField {
        @Override
        public String key() {
            return "queued:" + queue;
        }
    }

    /** Thousandths of GPUs in a pool; {@code policy} is empty for the whole tenant. */
    record Amount(Measure measure, Optional<UUID> policy, UUID pool) implements CounterField {
        @Override
        public String key() {
            return measure.word + ":" + policy.map(UUID::toString).orElse(WHOLE_TENANT) + ":" + pool;
        }
    }

    /** The amounts that are measured in GPUs, summed from the bottom. */
    enum Measure {
        /** The amount that waiting workloads request; it counts in each pool that they may use. */
        QUEUED("queued-gpus"),
        USED("used"),
        /** The part of {@link #USED} within the reserved amount. */
        RESERVED_USED("reserved-used"),
        /** The part of {@link #USED} beyond the reserved amount. */
        OVER_QUOTA("over-quota");

        private final String word;

        Measure(String word) {
            this.word = word;
        }
    }

    /** Parses a field name of Redis; empty for fields that are no counters (epoch, sequence ...). */
    static Optional<CounterField> parse(String key) {
        String[] steps = key.split(":", -1);
        if (steps.length == 2 && steps[0].equals("queued")) {
            return Optional.of(new Waiting(UUID.fromString(steps[1])));
        }
        for (Measure measure : Measure.values()) {
            if (steps.length == 3 && steps[0].equals(measure.word)) {
                Optional<UUID> policy =
                        steps[1].equals(WHOLE_TENANT) ? Optional.empty() : Optional.of(UUID.fromString(steps[1]));
                return Optional.of(new Amount(measure, policy, UUID.fromString(steps[2])));
            }
        }
        return Optional.empty();
    }
}
