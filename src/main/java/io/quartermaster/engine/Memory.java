package io.quartermaster.engine;

/** What is worked out of the books and kept beside them from plan to plan, each part following what changes. */
final class Memory {
    private final Demand demand;
    private final Orders orders;
    private final Explanations explanations;

    Memory(Facts facts, Books books) {
        this.demand = new Demand(facts, books);
        this.orders = new Orders(facts);
        this.explanations = new Explanations(facts, books);
    }

    Demand demand() {
        return demand;
    }

    Orders orders() {
        return orders;
    }

    Explanations explanations() {
        return explanations;
    }
}
