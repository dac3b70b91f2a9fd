package io.quartermaster.engine;

import io.quartermaster.engine.explain.ReceiptBuilder;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.DecisionReceipt;
import io.quartermaster.engine.model.Snapshot;
import java.util.List;
import java.util.Optional;

/**
 * Derivation of receipts on demand: the engine makes the same plan again from a snapshot, this time with a listener.
 * Therefore receipts cost nothing while the original plan is made.
 */
public final class ReceiptDerivation {
    private ReceiptDerivation() {}

    /** The receipts of all decisions of the plan that a snapshot gives at a moment, in the order of the decisions. */
    public static List<DecisionReceipt> of(Snapshot before, long nowMillis) {
        ReceiptBuilder receiptBuilder = new ReceiptBuilder();
        Engine.restore(before).plan(nowMillis, receiptBuilder);
        return receiptBuilder.receipts();
    }

    /** The receipt of one decision; empty if the plan of the snapshot at that moment lacks the decision. */
    public static Optional<DecisionReceipt> of(Snapshot before, long nowMillis, Decision decision) {
        return of(before, nowMillis).stream()
                .filter(receipt -> receipt.decision().equals(decision))
                .findFirst();
    }
}
