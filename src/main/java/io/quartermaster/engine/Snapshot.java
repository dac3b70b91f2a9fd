package io.quartermaster.engine;

import java.util.List;

/**
 * All that an engine knows, in an order that depends on nothing but what it knows: the changes that would build it
 * again, and the reasons it gave last.
 */
public record Snapshot(Settings settings, List<Change> facts, List<Wait> waits) {

    public Snapshot {
        facts = List.copyOf(facts);
        waits = List.copyOf(waits);
    }
}
