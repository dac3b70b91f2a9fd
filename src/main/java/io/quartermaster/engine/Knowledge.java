package io.quartermaster.engine;

import io.quartermaster.engine.placement.Kind;
import java.util.BitSet;
import java.util.List;

/**
 * What is known of kinds of requests before anybody asks: which cannot start at once, and for which too little would be
 * free even when all who were told to stop have left. By the kinds' numbers.
 */
record Knowledge(BitSet cannotStart, BitSet lackRoomLater) {

    static Knowledge of(List<Kind> kinds) {
        BitSet cannotStart = new BitSet(kinds.size());
        BitSet lackRoomLater = new BitSet(kinds.size());
        for (int number = 0; number < kinds.size(); number++) {
            Kind kind = kinds.get(number);
            cannotStart.set(number, kind.cannotStart());
            lackRoomLater.set(number, kind.lacksRoomLater());
        }
        return new Knowledge(cannotStart, lackRoomLater);
    }
}
