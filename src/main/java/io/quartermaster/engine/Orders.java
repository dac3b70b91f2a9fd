package io.quartermaster.engine;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Orders kept from plan to plan, one for each state of what is known of kinds: when a GPU comes free and is taken again,
 * the offers of all whom it would have fitted need not be hung up and taken down one by one.
 */
final class Orders {
    /** The states that come again are few: nothing fits, something small fits. */
    private static final int MOST = 16;

    private final Facts facts;
    private final Map<Knowledge, Order> byKnowledge = new LinkedHashMap<>(2 * MOST, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Knowledge, Order> eldest) {
            return size() > MOST;
        }
    };

    Orders(Facts facts) {
        this.facts = facts;
    }

    /** The order under what is known; it is still to follow the books. */
    Order under(Knowledge knowledge) {
        return byKnowledge.computeIfAbsent(knowledge, known -> new Order(facts));
    }
}
