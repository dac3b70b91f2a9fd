package io.quartermaster.engine.explain;

import io.quartermaster.engine.model.GpuFormat;
import io.quartermaster.engine.model.Outlook;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.engine.model.TimeFormat;
import io.quartermaster.engine.quota.Cap;
import io.quartermaster.engine.quota.QuotaAdmission;
import io.quartermaster.engine.quota.QuotaNode;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Text of a reason. The sentence states what is wrong and names the values. The remedy begins with a verb and names
 * an action of the reader against this one obstacle. It offers only actions that have an effect. It names no amounts,
 * because the sufficient amount depends on other waiting work; only the {@linkplain Outlook.Relief relief} names it.
 * Neither text contains a forecast.
 *
 * @param free the free GPUs that the workload may use
 * @param otherPools whether its group may use other pools than the workload does
 * @param wholeFree GPUs that are entirely free, for work that needs whole GPUs; empty for other work
 */
record ReasonText(
        PoolId pool,
        long requested,
        long free,
        OptionalLong wholeFree,
        long used,
        NodeChoice where,
        boolean otherPools) {

    /** The part of the pool that the workload may use. */
    enum NodeChoice {
        ANY_NODE,
        /** The one node on which its processes are paused. */
        PINNED_NODE
    }

    /** The event after which the workload can fit. */
    enum RoomCondition {
        /** It fits on the nodes that accept work, once they are empty. */
        WHEN_WORK_ENDS,
        /** It fits once more nodes accept work. */
        WHEN_NODES_ARE_BACK,
        WHEN_THERE_IS_MORE
    }

    private static final String ELSEWHERE = "submit to a queue that uses another pool";

    /** The end of a remedy, which offers another pool if the group may use one. */
    private String orElsewhere() {
        return orElsewhere(otherPools && where == NodeChoice.ANY_NODE);
    }

    private static String orElsewhere(boolean otherPools) {
        return otherPools ? ", or " + ELSEWHERE + "." : ".";
    }

    private static String whoGrants(QuotaPath path) {
        return path.segments().size() == 1 ? "the operator" : "an admin";
    }

    private static String raise(QuotaNode node) {
        return "Ask " + whoGrants(node.path()) + " to raise the limit of " + holder(node.path()) + " in " + where(node)
                + ".";
    }

    /** The remedy, preceded by the offer to submit a smaller workload if the bound leaves room for one. */
    private static String orSmaller(long boundGpuMilli, String remedy) {
        return boundGpuMilli > 0 ? "Submit a smaller workload, or " + uncapitalised(remedy) : remedy;
    }

    private String there() {
        return switch (where) {
            case ANY_NODE -> "in " + pool;
            case PINNED_NODE -> "on the node in " + pool + " that this workload is paused on";
        };
    }

    /** A group or a tenant, as its members write it. */
    private static String holder(QuotaPath path) {
        return path.segments().size() == 1 ? "tenant " + path.tenant() : "group " + path.group();
    }

    private static String capitalised(String text) {
        return Character.toUpperCase(text.charAt(0)) + text.substring(1);
    }

    private Reason reason(
            Reason.Code code, Optional<QuotaPath> path, long usedHere, OptionalLong bound, String what, String remedy) {
        return new Reason(code, pool, path, new Reason.Numbers(requested, usedHere, bound, free), what, remedy);
    }

    private Reason ofPool(Reason.Code code, String sentence, String remedy) {
        return reason(code, Optional.empty(), used, OptionalLong.empty(), sentence, remedy);
    }

    private Reason ofHolder(Reason.Code code, QuotaPath path, String sentence, String remedy) {
        return reason(code, Optional.of(path), used, OptionalLong.empty(), sentence, remedy);
    }

    /** @param path the suspended tenant, or the group whose policy is suspended */
    Reason suspended(QuotaPath path) {
        boolean tenant = path.segments().size() == 1;
        return ofHolder(
                Reason.Code.SUSPENDED,
                path,
                tenant
                        ? capitalised(holder(path)) + " is suspended."
                        : "The policy of " + holder(path) + " is suspended.",
                tenant
                        ? "Ask the operator to resume " + holder(path) + "."
                        : "Ask an admin to create " + holder(path) + " again, or to move its policy to another group.");
    }

    /**
     * The reason for a pool that does not exist.
     *
     * @param otherPools whether its group may use other pools than the workload does
     */
    static Reason unknownPool(PoolId pool, boolean otherPools) {
        Reason.Numbers numbers = new Reason.Numbers(0, 0, OptionalLong.empty(), 0);
        return new Reason(
                Reason.Code.NO_SUCH_NODE,
                pool,
                Optional.empty(),
                numbers,
                "Pool " + pool + " does not exist.",
                "Ask the operator to set up pool " + pool + orElsewhere(otherPools));
    }

    /** @param opensAtMillis when the pool opens; empty if that is unknown */
    Reason closed(OptionalLong opensAtMillis) {
        return ofPool(
                Reason.Code.CLOSED,
                "Pool " + pool + " is closed"
                        + (opensAtMillis.isPresent()
                                ? " until " + TimeFormat.utc(opensAtMillis.getAsLong()) + "."
                                : " at this time."),
                "Wait until pool " + pool + " opens" + orElsewhere());
    }

    /** The pool is open, but closes too soon for this work. */
    Reason closes(long atMillis) {
        return ofPool(
                Reason.Code.CLOSED,
                "Pool " + pool + " stops running work when it closes at " + TimeFormat.utc(atMillis)
                        + ", and this workload may run past that time.",
                "Wait for the next opening of pool " + pool + ", or state a maximum run time that ends before "
                        + TimeFormat.utc(atMillis) + ".");
    }

    /**
     * The pool stops running work when it closes, and no opening is long enough for this work.
     *
     * @param saysHowLong whether the workload states a maximum run time
     */
    Reason neverOpenLongEnough(boolean saysHowLong) {
        return ofPool(
                Reason.Code.CLOSED,
                "Pool " + pool + " stops running work when it closes, and this workload "
                        + (saysHowLong
                                ? "may run longer than any opening of the pool lasts."
                                : "is not preemptible and states no maximum run time."),
                "State a maximum run time that fits into the opening hours of pool " + pool
                        + (saysHowLong ? orElsewhere() : ", or submit the workload as preemptible."));
    }

    /**
     * @param path the path whose limit rises
     * @param scope the pool, or all pools, in which the limit applies
     * @param opensAtMillis when the limit rises
     */
    Reason closedTo(QuotaPath path, Scope scope, long opensAtMillis) {
        return ofHolder(
                Reason.Code.CLOSED,
                path,
                "This workload needs " + GpuFormat.gpus(requested) + ", more than " + holder(path) + " may hold in "
                        + where(scope) + " before " + TimeFormat.utc(opensAtMillis) + ".",
                "Wait until " + TimeFormat.utc(opensAtMillis) + ", or ask " + whoGrants(path)
                        + " to raise the limit of " + holder(path) + " in " + where(scope) + ".");
    }

    /** @param someIsLeft whether the budget has GPU-hours left, but too few for this work and the running work */
    Reason budget(QuotaPath path, boolean someIsLeft) {
        return ofHolder(
                Reason.Code.BUDGET,
                path,
                someIsLeft
                        ? "Too few GPU-hours of " + holder(path) + " are left in this period for this workload."
                        : "The GPU-hours of " + holder(path) + " for this period are used up.",
                "Wait for the next period, or ask for more GPU-hours for " + holder(path) + ".");
    }

    Reason nominated() {
        return ofPool(
                Reason.Code.NOMINATED,
                requested == 0
                        ? "A place in " + pool + " is kept for this workload, and the work in that place is stopping."
                        : GpuFormat.gpus(requested) + " in " + pool + (requested == 1000 ? " is" : " are")
                                + " kept for this workload, and the work on "
                                + (requested == 1000 ? "it" : "them") + " is stopping.",
                "Wait until the work that is stopping has ended; no other action is needed.");
    }

    /** @param unmetNeed the need that no node can meet, if it is a single one */
    Reason noSuchNode(int workers, Optional<String> unmetNeed) {
        String why =
                switch (where) {
                    case PINNED_NODE -> "it no longer fits on the node that it is paused on";
                    case ANY_NODE ->
                        unmetNeed.orElse(
                                (workers > 1 ? "its " + workers + " workers do not fit together" : "it does not fit")
                                        + " even if every node is up and empty");
                };
        return ofPool(
                Reason.Code.NO_SUCH_NODE,
                "Pool " + pool + (where == NodeChoice.ANY_NODE ? " can never run" : " cannot run") + " this workload: "
                        + why + ".",
                where == NodeChoice.PINNED_NODE
                        ? "Wait until the node that this workload is paused on is back, or cancel this workload and"
                                + " submit it again."
                        : "Submit to a queue with another profile" + (otherPools ? " or pool" : "")
                                + ", or ask the operator to add nodes that fit this workload.");
    }

    Reason noExecutor() {
        return ofPool(
                Reason.Code.NO_EXECUTOR,
                "Pool " + pool + " runs no work, because no executor is connected to it.",
                "Ask the operator to connect a cluster that runs work to pool " + pool + orElsewhere());
    }

    Reason nodesClosed() {
        return ofPool(
                Reason.Code.NODES_CLOSED,
                "The nodes of pool " + pool
                        + " that could take this workload accept no new work of its tenant now: they are cordoned,"
                        + " or they serve another tenant only.",
                "Wait until the operator opens a node of pool " + pool + " that fits this workload" + orElsewhere());
    }

    Reason behind(long freeNow) {
        return ofPool(
                Reason.Code.BEHIND,
                requested == 0
                        ? "There is room " + there() + ", but it is kept for work that comes first."
                        : GpuFormat.gpusAre(freeNow) + " free " + there() + ", but "
                                + (freeNow == 1000 ? "it is" : "they are") + " kept for work that comes first.",
                "Wait until the work that comes first has started" + orElsewhere());
    }

    /** @param placeHelps whether an admin could put the workload before the work that is first in its queue */
    Reason notItsTurn(boolean placeHelps) {
        return ofPool(
                Reason.Code.BEHIND,
                "The queue of this workload starts work strictly in order, and other work comes first.",
                "Wait until the work that comes first has started"
                        + (placeHelps ? ", or ask an admin to put this workload first in its queue." : "."));
    }

    Reason noCapacity(RoomCondition room) {
        return tooFew(Reason.Code.NO_CAPACITY, room);
    }

    private Reason tooFew(Reason.Code code, RoomCondition room) {
        long usable = wholeFree.isPresent() ? wholeFree.getAsLong() * 1000 : free;
        String needs = wholeFree.isPresent() && free > usable
                ? GpuFormat.decimal(requested) + (requested == 1000 ? " whole GPU" : " whole GPUs")
                : GpuFormat.gpus(requested);
        return ofPool(
                code,
                "This workload needs " + needs + " " + there() + "; " + isFree(usable) + ".",
                until(room, "enough GPUs come free " + there()) + orElsewhere());
    }

    /** @param there the event to wait for, if the end of running work suffices */
    private String until(RoomCondition room, String there) {
        return switch (room) {
            case WHEN_WORK_ENDS -> "Wait until " + there;
            case WHEN_NODES_ARE_BACK ->
                switch (where) {
                    case ANY_NODE -> "Wait until more nodes of pool " + pool + " accept work";
                    case PINNED_NODE -> "Wait until the node that this workload is paused on accepts work again";
                };
            case WHEN_THERE_IS_MORE -> "Ask the operator to add GPUs to pool " + pool;
        };
    }

    private static String isFree(long gpuMilli) {
        return gpuMilli == 0
                ? "none is free"
                : GpuFormat.decimal(gpuMilli) + (gpuMilli == 1000 ? " is" : " are") + " free";
    }

    Reason fragmented(int workers, RoomCondition room) {
        if (wholeFree.isPresent() && wholeFree.getAsLong() * 1000 < requested) {
            return tooFew(Reason.Code.FRAGMENTED, room);
        }
        String wait = until(
                        room,
                        "work ends and leaves enough room "
                                + (workers > 1 ? "for all " + workers + " workers" : "on one node"))
                + orElsewhere();
        if (requested == 0) {
            return ofPool(
                    Reason.Code.FRAGMENTED,
                    workers > 1
                            ? "The nodes of " + pool + " have too little free CPU or memory for the " + workers
                                    + " workers of this workload."
                            : "No node of " + pool + " has the free CPU and memory that this workload needs.",
                    wait);
        }
        return ofPool(
                Reason.Code.FRAGMENTED,
                GpuFormat.gpusAre(free) + " free " + there() + ", but "
                        + (workers > 1
                                ? "not on nodes where the " + workers + " workers of this workload fit. They need "
                                        + GpuFormat.gpus(requested) + "."
                                : "no single node has room for this workload, which needs " + GpuFormat.gpus(requested)
                                        + "."),
                wait);
    }

    /** The code of the reason for a violated bound. */
    static Reason.Code code(QuotaAdmission.Violation violation) {
        return switch (violation.bound()) {
            case UNNAMED, LIMIT, USER_CAP, WORKLOAD_CAP -> Reason.Code.LIMIT;
            case OVER_QUOTA_OFF -> Reason.Code.OVER_QUOTA_OFF;
            case NOT_PREEMPTIBLE -> Reason.Code.NOT_PREEMPTIBLE;
            case HELD_FOR_OTHERS -> Reason.Code.HELD_FOR_OTHERS;
            case CAPACITY -> Reason.Code.NO_CAPACITY;
        };
    }

    /** The path that the reason for a violated bound names. */
    static Optional<QuotaPath> path(QuotaAdmission.Violation violation) {
        return switch (violation.bound()) {
            case UNNAMED, LIMIT, OVER_QUOTA_OFF, NOT_PREEMPTIBLE ->
                Optional.of(violation.node().path());
            case USER_CAP, WORKLOAD_CAP -> violation.cap().map(Cap::path);
            case HELD_FOR_OTHERS, CAPACITY -> Optional.empty();
        };
    }

    /**
     * The reason for a violated bound of the quota trees.
     *
     * @param waitingHelps whether the bounds admit the workload once all other work has ended
     */
    Reason bound(QuotaAdmission.Violation violation, boolean waitingHelps) {
        return switch (violation.bound()) {
            case UNNAMED -> unnamed(violation);
            case LIMIT -> limit(violation);
            case USER_CAP, WORKLOAD_CAP -> cap(violation, violation.cap().orElseThrow());
            case OVER_QUOTA_OFF -> overQuotaOff(violation);
            case NOT_PREEMPTIBLE -> notPreemptible(violation);
            case HELD_FOR_OTHERS -> heldForOthers(violation, waitingHelps);
            case CAPACITY -> noCapacity(waitingHelps ? RoomCondition.WHEN_WORK_ENDS : RoomCondition.WHEN_THERE_IS_MORE);
        };
    }

    private Reason unnamed(QuotaAdmission.Violation violation) {
        QuotaNode node = violation.node();
        boolean tenant = node.path().segments().size() == 1;
        return ofPath(
                Reason.Code.LIMIT,
                violation,
                capitalised(holder(node.path())) + " has no quota in " + where(node) + ".",
                (tenant
                                ? "Ask the operator for an allotment in " + where(node)
                                : "Ask an admin to add a quota in " + where(node) + " to the policy of "
                                        + holder(node.path()))
                        + orElsewhere());
    }

    private Reason limit(QuotaAdmission.Violation violation) {
        QuotaNode node = violation.node();
        String whose = holder(node.path());
        if (requested > violation.boundGpuMilli()) {
            return ofPath(
                    Reason.Code.LIMIT,
                    violation,
                    "This workload needs " + GpuFormat.gpus(requested) + ", and " + whose + " may hold at most "
                            + GpuFormat.gpus(violation.boundGpuMilli()) + " in " + where(node) + ".",
                    orSmaller(violation.boundGpuMilli(), raise(node)));
        }
        return ofPath(
                Reason.Code.LIMIT,
                violation,
                "This workload needs " + GpuFormat.gpus(requested) + ", and " + whose + " holds "
                        + GpuFormat.decimal(violation.usedGpuMilli()) + " of at most "
                        + GpuFormat.gpus(violation.boundGpuMilli())
                        + " in " + where(node) + "." + drain(node, violation.usedGpuMilli()),
                untilEnds("", node) + ", or " + uncapitalised(raise(node)));
    }

    /** @param other "other ", if the end of only some of the holder's work would help; otherwise empty */
    private static String untilEnds(String other, QuotaNode node) {
        return "Wait until " + other + "work of " + holder(node.path()) + " ends";
    }

    private static String uncapitalised(String text) {
        return Character.toLowerCase(text.charAt(0)) + text.substring(1);
    }

    private Reason overQuotaOff(QuotaAdmission.Violation violation) {
        QuotaNode node = violation.node();
        String reserve = "Ask " + whoGrants(node.path()) + " to reserve more GPUs in " + where(node)
                + (isOwnPart(node) ? " for the own work of " : " for ") + holder(node.path()) + ".";
        return ofPath(
                Reason.Code.OVER_QUOTA_OFF,
                violation,
                "This workload may use only reserved GPUs. " + capitalised(holder(node.path())) + " holds "
                        + GpuFormat.decimal(violation.usedGpuMilli()) + " of the " + reserved(node, violation)
                        + ", and this workload needs "
                        + GpuFormat.gpus(requested) + ".",
                requested <= violation.boundGpuMilli()
                        ? untilEnds("", node) + ", or " + uncapitalised(reserve)
                        : orSmaller(violation.boundGpuMilli(), reserve));
    }

    /** Whether the node is a group's own part: the part that the reservations of the groups below it leave. */
    private static boolean isOwnPart(QuotaNode node) {
        QuotaNode parent = node.parent();
        return parent != null && !parent.isRoot() && parent.path().equals(node.path());
    }

    /** The reserved amount; if groups below have a part of it, also how the amount results from the policy's. */
    private static String reserved(QuotaNode node, QuotaAdmission.Violation violation) {
        String amount = GpuFormat.gpus(violation.boundGpuMilli()) + " reserved for ";
        QuotaNode parent = node.parent();
        if (parent == null || !isOwnPart(node)) {
            return amount + "it in " + where(node);
        }
        long whole = parent.reservedGpuMilli();
        long below = whole - node.reservedGpuMilli();
        return amount + "its own work in " + where(node) + " ("
                + GpuFormat.gpusAre(whole) + " reserved for " + holder(node.path()) + ", of which "
                + GpuFormat.decimal(below)
                + (below == 1000 ? " is" : " are") + " reserved for groups below it)";
    }

    private Reason heldForOthers(QuotaAdmission.Violation violation, boolean waitingHelps) {
        if (!violation.node().isRoot()) {
            return heldForGroupsBeside(violation, waitingHelps);
        }
        long left = Math.max(0, Math.min(free, violation.boundGpuMilli() - violation.usedGpuMilli()));
        String idle = free == 1000 ? "The idle GPU in " : "Idle GPUs in ";
        return ofPool(
                Reason.Code.HELD_FOR_OTHERS,
                idle + where(violation.node()) + (free == 1000 ? " is" : " are")
                        + " reserved for other tenants, which do not lend " + (free == 1000 ? "it" : "them")
                        + "; this workload needs " + GpuFormat.gpus(requested) + " and may use "
                        + (left == 0 ? "none." : GpuFormat.decimal(left) + " of them."),
                waitingHelps
                        ? "Wait until more GPUs come free " + there() + orElsewhere()
                        : "Ask the operator to add GPUs to pool " + pool + orElsewhere());
    }

    /** The limit of the parent leaves too little, because sibling groups reserve a part of it that they do not lend. */
    private Reason heldForGroupsBeside(QuotaAdmission.Violation violation, boolean waitingHelps) {
        QuotaNode node = violation.node();
        long limit = node.limitGpuMilli().orElseThrow();
        long left = Math.max(0, violation.boundGpuMilli() - violation.usedGpuMilli());
        String whose = holder(node.path());
        String raise = raise(node);
        return ofPath(
                Reason.Code.HELD_FOR_OTHERS,
                violation,
                capitalised(whose) + " may hold at most " + GpuFormat.gpus(limit) + " in " + where(node)
                        + ", and holds "
                        + GpuFormat.decimal(violation.usedGpuMilli()) + ". "
                        + GpuFormat.gpusAre(limit - violation.boundGpuMilli())
                        + " reserved for its groups that do not lend; this workload needs " + GpuFormat.gpus(requested)
                        + " and may use " + (left == 0 ? "none." : GpuFormat.decimal(left) + "."),
                waitingHelps && violation.usedGpuMilli() > 0
                        ? untilEnds("other ", node) + ", or " + uncapitalised(raise)
                        : raise);
    }

    /** When the engine stops the work beyond the limit; empty if it does not. */
    private static String drain(QuotaNode node, long usedGpuMilli) {
        if (node.drainByMillis().isEmpty() || usedGpuMilli <= node.keptGpuMilli()) {
            return "";
        }
        long stays = node.nonPreemptible().current();
        return " Work beyond the limit is stopped at "
                + TimeFormat.utc(node.drainByMillis().getAsLong())
                + (stays > node.keptGpuMilli()
                        ? ", except work that cannot be preempted, which holds " + GpuFormat.gpus(stays) + "."
                        : ".");
    }

    /**
     * The reason of non-preemptible work. Its bound is the amount that stays reserved for as long as the work may run:
     * a capacity reservation may end earlier.
     */
    private Reason notPreemptible(QuotaAdmission.Violation violation) {
        QuotaNode node = violation.node();
        boolean ends = node.reservedGpuMilli() > violation.boundGpuMilli();
        return ofPath(
                Reason.Code.NOT_PREEMPTIBLE,
                violation,
                "This workload is not preemptible and needs " + GpuFormat.gpus(requested)
                        + " of reserved capacity. Non-preemptible work of " + holder(node.path()) + " holds "
                        + GpuFormat.decimal(violation.usedGpuMilli()) + " of the " + reserved(node, violation)
                        + (ends ? " for as long as this workload may run." : "."),
                "Submit this workload as preemptible, "
                        + (ends ? "state a maximum run time that ends before the capacity reservation does, " : "")
                        + "or ask " + whoGrants(node.path()) + " to reserve more GPUs in " + where(node) + " for "
                        + holder(node.path()) + ".");
    }

    /** The reason for a cap on one user's GPUs or on the number of running workloads. */
    private Reason cap(QuotaAdmission.Violation violation, Cap cap) {
        QuotaPath path = cap.path();
        if (cap.user().isEmpty()) {
            boolean one = violation.usedGpuMilli() == 1;
            return reason(
                    Reason.Code.LIMIT,
                    Optional.of(path),
                    used,
                    OptionalLong.empty(),
                    violation.usedGpuMilli() + (one ? " workload of " : " workloads of ") + holder(path)
                            + (one ? " runs" : " run") + ", and at most " + cap.max() + " may run concurrently.",
                    (cap.max() > 0 ? "Wait until a workload of " + holder(path) + " ends, or ask" : "Ask")
                            + " an admin to let more workloads of " + holder(path) + " run concurrently.");
        }
        boolean never = requested > cap.max();
        String raise = "Ask an admin to let one user of " + holder(path) + " hold more GPUs.";
        return reason(
                Reason.Code.LIMIT,
                Optional.of(path),
                violation.usedGpuMilli(),
                OptionalLong.of(cap.max()),
                "This workload needs " + GpuFormat.gpus(requested) + ", and its submitter holds "
                        + GpuFormat.decimal(violation.usedGpuMilli()) + " of at most " + GpuFormat.gpus(cap.max())
                        + " per user of " + holder(path) + ".",
                never
                        ? orSmaller(cap.max(), raise)
                        : "Wait until other work of its submitter ends, or " + uncapitalised(raise));
    }

    private Reason ofPath(Reason.Code code, QuotaAdmission.Violation violation, String sentence, String remedy) {
        return reason(
                code,
                Optional.of(violation.node().path()),
                violation.usedGpuMilli(),
                OptionalLong.of(violation.boundGpuMilli()),
                sentence,
                remedy);
    }

    private static String where(QuotaNode node) {
        return where(node.tree().scope());
    }

    private static String where(Scope scope) {
        return switch (scope) {
            case Scope.OnePool one -> one.pool().value();
            case Scope.AllPools all -> "all pools together";
        };
    }
}
