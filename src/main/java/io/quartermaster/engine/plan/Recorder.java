package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GivenUp;
import io.quartermaster.engine.order.Offer;
import io.quartermaster.engine.order.Order;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;

/** Looks on while a plan is made and changes nothing, so that a plan is the same with any. */
public interface Recorder {
    /** Nobody looks on. */
    Recorder NOBODY = new Recorder() {
        @Override
        public void begins(Facts facts, Books books) {}

        @Override
        public void turn(Offer offer, Order order) {}

        @Override
        public void gaveUp(Allocation place, GivenUp why) {}

        @Override
        public void took(Decision decision) {}
    };

    /** Fair shares are divided, nothing is decided yet. */
    void begins(Facts facts, Books books);

    /** It is an offer's turn; it is not tried yet. */
    void turn(Offer offer, Order order);

    /** The next decision takes a kept place back. */
    void gaveUp(Allocation place, GivenUp why);

    /** A decision was taken, and the books have it. */
    void took(Decision decision);
}
