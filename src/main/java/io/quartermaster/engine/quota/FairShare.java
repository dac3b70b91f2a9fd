package io.quartermaster.engine.quota;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Divides a parent's share among its children. Each child first gets the smaller of its reserved amount and its demand.
 * The rest is divided by rank and weight in whole GPUs. The division is that of KAI-Scheduler
 * (plugins/proportion/resource_division).
 */
final class FairShare {
    private static final long GPU_MILLI = 1000;
    private static final long PARTS = 1_000_000;

    private FairShare() {}

    /**
     * Sets the fair share of every child. The reserved parts may add up to more than the total.
     *
     * @param pastOverGpuMicro the amount that past use is divided by; 0 = past use does not count
     */
    static void divide(long totalGpuMilli, List<QuotaNode> children, long pastOverGpuMicro) {
        long left = totalGpuMilli;
        for (QuotaNode child : children) {
            long deserved = Math.min(child.reservedGpuMilli(), child.demandGpuMilli());
            child.setFairGpuMilli(deserved);
            left -= deserved;
        }
        if (left <= 0) {
            return;
        }
        SortedMap<Integer, List<Claim>> byRank = new TreeMap<>();
        for (QuotaNode child : children) {
            if (child.weightMilli() > 0 && child.demandGpuMilli() > child.fairGpuMilli()) {
                byRank.computeIfAbsent(child.rank(), rank -> new ArrayList<>()).add(new Claim(child));
            }
        }
        for (List<Claim> claims : byRank.values()) {
            left = divideByWeight(left, claims, pastOverGpuMicro);
        }
    }

    private static long divideByWeight(long total, List<Claim> claims, long pastOverGpuMicro) {
        long left = total;
        boolean someoneWantedLess = true;
        while (someoneWantedLess && left > 0) {
            someoneWantedLess = false;
            long toDivide = left;
            long weights = weigh(claims, pastOverGpuMicro);
            for (Claim claim : claims) {
                if (claim.wanted() > 0) {
                    // The part is exact in units of 1/weights; dividing it by a GPU gives the whole GPUs.
                    long part = toDivide * claim.weight;
                    someoneWantedLess |= claim.wanted() * weights < part;
                    left -= claim.takePart(part, weights);
                }
            }
        }
        return giveRemainders(left, claims);
    }

    /**
     * Sets the weight of each claim that is not met yet, and returns the sum of the weights. With past use, the weight
     * is twice the stated part less the part of past use (KAI-Scheduler, time-based-fairshare, k = 1). A child whose
     * past use exceeds that gets nothing before the other children have enough.
     */
    private static long weigh(List<Claim> claims, long pastOverGpuMicro) {
        long stated = 0;
        for (Claim claim : claims) {
            claim.weight = claim.wanted() > 0 ? claim.node.weightMilli() : 0;
            stated += claim.weight;
        }
        if (pastOverGpuMicro == 0 || stated == 0) {
            return stated;
        }
        long moved = 0;
        for (Claim claim : claims) {
            long part = 2 * PARTS * claim.weight / stated;
            long past = PARTS * claim.node.pastGpuMicro() / pastOverGpuMicro;
            claim.moved = claim.weight == 0 ? 0 : Math.max(0, part - past);
            moved += claim.moved;
        }
        if (moved == 0) {
            return stated;
        }
        claims.forEach(claim -> claim.weight = claim.moved);
        return moved;
    }

    private static long giveRemainders(long total, List<Claim> claims) {
        long left = total;
        List<Claim> byRemainder = new ArrayList<>(claims);
        byRemainder.sort(Claim.LARGEST_REMAINDER_FIRST);
        for (Claim claim : byRemainder) {
            if (left == 0) {
                break;
            }
            long unit = Math.min(Math.min(GPU_MILLI, left), claim.wanted());
            claim.give(unit);
            left -= unit;
        }
        return left;
    }

    /** A child whose demand is not met yet. */
    private static final class Claim {
        static final Comparator<Claim> LARGEST_REMAINDER_FIRST = (a, b) -> {
            int byRemainder = -Ratio.compare(a.remainder, a.remainderOver, b.remainder, b.remainderOver);
            if (byRemainder != 0) {
                return byRemainder;
            }
            int byHeld = Long.compare(b.beyondReserved(), a.beyondReserved());
            if (byHeld != 0) {
                return byHeld;
            }
            int byAge = Long.compare(a.node.sequence(), b.node.sequence());
            return byAge != 0 ? byAge : a.node.path().compareTo(b.node.path());
        };

        private final QuotaNode node;
        private long weight;
        private long moved;
        private long remainder;
        private long remainderOver = 1;

        Claim(QuotaNode node) {
            this.node = node;
        }

        long wanted() {
            return node.demandGpuMilli() - node.fairGpuMilli();
        }

        long beyondReserved() {
            return Math.max(0, node.used().projected() - node.reservedGpuMilli());
        }

        /** Takes {@code part / over} in whole GPUs, or the wanted amount if that is less. Returns the amount taken. */
        long takePart(long part, long over) {
            long whole = part / (over * GPU_MILLI) * GPU_MILLI;
            boolean satisfied = wanted() * over <= part;
            remainder = satisfied ? 0 : part - whole * over;
            remainderOver = over;
            long taken = satisfied ? wanted() : whole;
            give(taken);
            return taken;
        }

        void give(long gpuMilli) {
            node.setFairGpuMilli(node.fairGpuMilli() + gpuMilli);
        }
    }
}
