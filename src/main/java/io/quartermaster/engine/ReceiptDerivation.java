package io.quartermaster.engine;

import io.quartermaster.engine.explain.ReceiptBuilder;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.Snapshot;
import java.util.List;
import java.util.Optional;

/**
 * Receipts of decisions, derived when somebody asks: a snapshot gives the same plan again, this time with somebody looking on. So nothing is
 * paid for them while plans are made.
 */
public final class ReceiptDerivation {
    private ReceiptDerivation() {}

    /** Those of all decisions of the plan that a snapshot gives at a moment, in the order in which they are taken. */
    public static List<DecisionReceipt> of(Snapshot before, long nowMillis) {
        ReceiptBuilder receiptBuilder = new ReceiptBuilder();
        Engine.restore(before).plan(nowMillis, receiptBuilder);
        return receiptBuilder.receipts();
    }

    /** That of one decision; empty where the snapshot does not give it at that moment. */
    public static Optional<DecisionReceipt> of(Snapshot before, long nowMillis, Decision decision) {
        return of(before, nowMillis).stream()
                .filter(receipt -> receipt.decision().equals(decision))
                .findFirst();
    }
}
