package io.quartermaster.ledger;

import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The values of the label keys that a tenant had declared when an allocation began. They never change afterwards, even
 * if the labels of the workload do.
 *
 * @param values by declared key; empty where the workload has no such label. A key that was not declared is absent
 */
public record UsageLabels(SortedMap<String, Optional<String>> values) {

    /** The labels of an allocation that began while no key was declared. */
    public static final UsageLabels NONE = new UsageLabels(Collections.emptySortedMap());

    public UsageLabels {
        for (String key : values.keySet()) {
            // The canonical text of a segment has a line for each key, with the key before the first '='.
            if (key.isEmpty() || key.chars().anyMatch(c -> c <= ' ' || c == '=' || c == '\\')) {
                throw new IllegalArgumentException("not the key of a label: " + key);
            }
        }
        values = values.isEmpty()
                ? Collections.emptySortedMap()
                : Collections.unmodifiableSortedMap(new TreeMap<>(values));
    }

    /** Whether any key was declared. */
    public boolean hasKeys() {
        return !values.isEmpty();
    }

    public LabelState state(String key) {
        Optional<String> value = values.get(key);
        if (value == null) {
            return LabelState.UNDECLARED;
        }
        return value.isPresent() ? LabelState.SET : LabelState.UNSET;
    }

    /** The value of a label; empty if the key was not declared or the workload has no such label. */
    public Optional<String> value(String key) {
        Optional<String> value = values.get(key);
        return value == null ? Optional.empty() : value;
    }
}
