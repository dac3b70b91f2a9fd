package io.quartermaster.metering;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.UsageLabels;
import io.quartermaster.platform.http.JsonSettings;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The marks of an allocation as JSON: in usage events, which {@code dispatch} writes, and in states of books.
 * {@link Plain} is format 1 of both, and {@link Labelled} is format 2.
 */
final class StoredMarks {

    private static final ObjectMapper JSON =
            JsonSettings.newMapper().setDefaultPropertyInclusion(JsonInclude.Include.ALWAYS);
    private static final TypeReference<TreeMap<String, @Nullable String>> TEXTS = new TypeReference<>() {};

    private StoredMarks() {}

    /** The marks of an allocation that began while no label key was declared. */
    record Plain(
            String policy,
            String group,
            String profile,
            String queue,
            String workload,
            String attempt,
            String user,
            String cluster,
            boolean preemptible) {

        static Plain of(AllocationMarks marks) {
            return new Plain(
                    marks.policy().value(),
                    marks.group(),
                    marks.profile(),
                    marks.queue(),
                    marks.workload(),
                    marks.attempt(),
                    marks.user(),
                    marks.cluster(),
                    marks.preemptible());
        }

        AllocationMarks marks() {
            return marks(UsageLabels.NONE);
        }

        private AllocationMarks marks(UsageLabels labels) {
            return new AllocationMarks(
                    new PolicyId(policy), group, profile, queue, workload, attempt, user, cluster, preemptible, labels);
        }
    }

    /** @param labels by declared key; null where the workload has no such label */
    record Labelled(
            String policy,
            String group,
            String profile,
            String queue,
            String workload,
            String attempt,
            String user,
            String cluster,
            boolean preemptible,
            Map<String, @Nullable String> labels) {

        static Labelled of(AllocationMarks marks) {
            return new Labelled(
                    marks.policy().value(),
                    marks.group(),
                    marks.profile(),
                    marks.queue(),
                    marks.workload(),
                    marks.attempt(),
                    marks.user(),
                    marks.cluster(),
                    marks.preemptible(),
                    byKey(marks.labels()));
        }

        AllocationMarks marks() {
            return new Plain(policy, group, profile, queue, workload, attempt, user, cluster, preemptible)
                    .marks(StoredMarks.labels(labels));
        }
    }

    private static Map<String, @Nullable String> byKey(UsageLabels labels) {
        Map<String, @Nullable String> byKey = new TreeMap<>();
        labels.values().forEach((key, value) -> byKey.put(key, value.orElse(null)));
        return byKey;
    }

    private static UsageLabels labels(Map<String, @Nullable String> byKey) {
        TreeMap<String, Optional<String>> values = new TreeMap<>();
        byKey.forEach((key, value) -> values.put(key, Optional.ofNullable(value)));
        return new UsageLabels(values);
    }

    /** The labels as a JSON object, with null where the workload has no such label; empty where no key was declared. */
    static Optional<String> text(UsageLabels labels) {
        if (!labels.hasKeys()) {
            return Optional.empty();
        }
        try {
            return Optional.of(JSON.writeValueAsString(byKey(labels)));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("texts can be written as JSON", e);
        }
    }

    /** Reads what {@link #text} writes. */
    static UsageLabels labels(@Nullable String text) {
        if (text == null) {
            return UsageLabels.NONE;
        }
        try {
            return labels(JSON.readValue(text, TEXTS));
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("its labels are invalid: " + e.getOriginalMessage(), e);
        }
    }
}
