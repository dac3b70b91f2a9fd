package io.quartermaster.engine.order;

import io.quartermaster.engine.placement.Kind;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How many offers are worth their turn. What is known of a kind changes with every GPU that comes free or is taken, and with it what the turns of all
 * bring who ask for it; so they are counted for each of the states that this may be in.
 */
final class Worthwhile {
    private static final int CANNOT_START = 1;
    private static final int LACKS_ROOM_LATER = 2;
    private static final int STATES = 4;

    private final List<@Nullable OfKind> byKind = new ArrayList<>();
    private int anyhow;

    /** The offers of one kind; for each state of what is known of it, those whose turn brings something. */
    private static final class OfKind {
        private final Kind kind;
        private final int[] offers = new int[STATES];
        private int all;

        OfKind(Kind kind) {
            this.kind = kind;
        }

        void count(Offer offer, int more) {
            all += more;
            for (int state = 0; state < STATES; state++) {
                Offer.Attempt attempt = offer.attempt((state & CANNOT_START) != 0, (state & LACKS_ROOM_LATER) != 0);
                offers[state] += attempt == Offer.Attempt.NONE ? 0 : more;
            }
        }

        boolean any() {
            return all > 0
                    && offers[(kind.cannotStart() ? CANNOT_START : 0) + (kind.lacksRoomLater() ? LACKS_ROOM_LATER : 0)]
                            > 0;
        }
    }

    void add(Offer offer) {
        count(offer, 1);
    }

    void remove(Offer offer) {
        count(offer, -1);
    }

    private void count(Offer offer, int more) {
        Kind kind = offer.kind();
        if (kind == null) {
            anyhow += more;
        } else {
            ofKind(kind).count(offer, more);
        }
    }

    private OfKind ofKind(Kind kind) {
        while (byKind.size() <= kind.number()) {
            byKind.add(null);
        }
        OfKind known = byKind.get(kind.number());
        OfKind ofKind = known == null ? new OfKind(kind) : known;
        byKind.set(kind.number(), ofKind);
        return ofKind;
    }

    /** Whether the turn of any brings something now. */
    boolean any() {
        if (anyhow > 0) {
            return true;
        }
        for (OfKind ofKind : byKind) {
            if (ofKind != null && ofKind.any()) {
                return true;
            }
        }
        return false;
    }
}
