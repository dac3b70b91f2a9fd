package io.quartermaster.engine.order;

import io.quartermaster.engine.placement.RequestSignature;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The number of candidates that have an attempt left. The knowledge of a signature changes whenever a GPU is freed or
 * taken, and with it the attempts of all candidates with that signature. They are therefore counted for each possible
 * state of that knowledge.
 */
final class ViableCandidateCount {
    private static final int CANNOT_START = 1;
    private static final int LACKS_ROOM_LATER = 2;
    private static final int STATES = 4;

    private final List<@Nullable OfSignature> byKind = new ArrayList<>();
    private int anyhow;

    /** The candidates of one signature; for each state of its knowledge, the number that have an attempt left. */
    private static final class OfSignature {
        private final RequestSignature requestSignature;
        private final int[] offers = new int[STATES];
        private int all;

        OfSignature(RequestSignature requestSignature) {
            this.requestSignature = requestSignature;
        }

        void count(Candidate candidate, int more) {
            all += more;
            for (int state = 0; state < STATES; state++) {
                Candidate.Attempt attempt =
                        candidate.attempt((state & CANNOT_START) != 0, (state & LACKS_ROOM_LATER) != 0);
                offers[state] += attempt == Candidate.Attempt.SKIP ? 0 : more;
            }
        }

        boolean any() {
            return all > 0
                    && offers[
                                    (requestSignature.cannotStart() ? CANNOT_START : 0)
                                            + (requestSignature.onlyEvictionsHelp() ? LACKS_ROOM_LATER : 0)]
                            > 0;
        }
    }

    void add(Candidate candidate) {
        count(candidate, 1);
    }

    void remove(Candidate candidate) {
        count(candidate, -1);
    }

    private void count(Candidate candidate, int more) {
        RequestSignature requestSignature = candidate.signature();
        if (requestSignature == null) {
            anyhow += more;
        } else {
            ofKind(requestSignature).count(candidate, more);
        }
    }

    private OfSignature ofKind(RequestSignature requestSignature) {
        while (byKind.size() <= requestSignature.number()) {
            byKind.add(null);
        }
        OfSignature known = byKind.get(requestSignature.number());
        OfSignature ofSignature = known == null ? new OfSignature(requestSignature) : known;
        byKind.set(requestSignature.number(), ofSignature);
        return ofSignature;
    }

    /** Whether any candidate has an attempt left now. */
    boolean any() {
        if (anyhow > 0) {
            return true;
        }
        for (OfSignature ofSignature : byKind) {
            if (ofSignature != null && ofSignature.any()) {
                return true;
            }
        }
        return false;
    }
}
