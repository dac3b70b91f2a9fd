package io.quartermaster.engine;

import io.quartermaster.engine.explain.Explanations;
import io.quartermaster.engine.order.Order;
import io.quartermaster.engine.plan.Demand;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;

/** What is worked out of the books and kept beside them from plan to plan, each part following what changes. */
final class Memory {
    private final Demand demand;
    private final Order order;
    private final Explanations explanations;

    Memory(Facts facts, Books books) {
        this.demand = new Demand(facts, books);
        this.order = new Order(facts);
        this.explanations = new Explanations(facts, books);
    }

    Demand demand() {
        return demand;
    }

    Order order() {
        return order;
    }

    Explanations explanations() {
        return explanations;
    }
}
