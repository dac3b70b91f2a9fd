package io.quartermaster.engine;

import io.quartermaster.engine.quota.Admission;
import io.quartermaster.engine.quota.Ceiling;
import io.quartermaster.engine.quota.QuotaNode;
import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Puts reasons into words and numbers.
 *
 * @param free of what it may use
 */
record Said(PoolId pool, long requested, long free, long used, Where where) {

    /** What of the pool it may use. */
    enum Where {
        ANYWHERE,
        /** The one node that its paused processes are on. */
        ITS_OWN_NODE
    }

    private String there() {
        return switch (where) {
            case ANYWHERE -> "in " + pool;
            case ITS_OWN_NODE -> "on the node in " + pool + " that it is paused on";
        };
    }

    private Reason reason(
            Reason.Code code, Optional<QuotaPath> path, long usedHere, OptionalLong bound, String what, String remedy) {
        return new Reason(code, pool, path, new Reason.Numbers(requested, usedHere, bound, free), what, remedy);
    }

    private Reason ofPool(Reason.Code code, String sentence, String remedy) {
        return reason(code, Optional.empty(), used, OptionalLong.empty(), sentence, remedy);
    }

    /** @param path what is suspended: a tenant, or a group whose policy is */
    Reason suspended(QuotaPath path) {
        boolean tenant = path.segments().size() == 1;
        return reason(
                Reason.Code.SUSPENDED,
                Optional.of(path),
                used,
                OptionalLong.empty(),
                path + " is suspended.",
                tenant ? "The operator resumes " + path + "." : "The policy of " + path + " is resumed.");
    }

    /** @param opensAtMillis when the pool opens; absent where that is not known */
    Reason closed(OptionalLong opensAtMillis) {
        return ofPool(
                Reason.Code.CLOSED,
                "Pool " + pool + " is closed at this time"
                        + (opensAtMillis.isPresent()
                                ? "; it opens at " + Instant.ofEpochMilli(opensAtMillis.getAsLong()) + "."
                                : "."),
                "The pool opens.");
    }

    /** The pool is open, but closes too soon for this work. */
    Reason closes(long atMillis) {
        return ofPool(
                Reason.Code.CLOSED,
                "Pool " + pool + " stops what runs when it closes at " + Instant.ofEpochMilli(atMillis)
                        + ", and this work may run longer than that.",
                "The pool opens the next time, or it states a maximum run time that is over before.");
    }

    /**
     * The pool stops what runs when it closes, and no opening is long enough for this work.
     *
     * @param saysHowLong whether it states a maximum run time
     */
    Reason neverOpenLongEnough(boolean saysHowLong) {
        return ofPool(
                Reason.Code.CLOSED,
                "Pool " + pool + " stops what runs when it closes, and this work "
                        + (saysHowLong
                                ? "may run longer than the pool is ever open at a time."
                                : "can neither be preempted nor says how long it runs."),
                saysHowLong
                        ? "It states a maximum run time that fits into an opening, or the pool is open for longer at a time."
                        : "It states a maximum run time that fits into an opening, or it is submitted as preemptible.");
    }

    /**
     * @param path whose limit is to rise
     * @param opensAtMillis when it does
     */
    Reason closedTo(QuotaPath path, long opensAtMillis) {
        return reason(
                Reason.Code.CLOSED,
                Optional.of(path),
                used,
                OptionalLong.empty(),
                "It is larger than what " + path + " may hold in " + pool + " at this time; from "
                        + Instant.ofEpochMilli(opensAtMillis) + " on it is not.",
                "That time comes, or the limit of " + path + " is raised.");
    }

    /** @param someIsLeft only too little of it for this work and what runs already */
    Reason budget(QuotaPath path, boolean someIsLeft) {
        return reason(
                Reason.Code.BUDGET,
                Optional.of(path),
                used,
                OptionalLong.empty(),
                someIsLeft
                        ? "Too little is left of the GPU-hours of " + path + " for this period."
                        : "The GPU-hours of " + path + " for this period are used up.",
                "The budget is raised, or the next period begins.");
    }

    Reason nominated() {
        return ofPool(
                Reason.Code.NOMINATED,
                Amounts.gpusAre(requested) + " kept for it; it waits for those who hold them to leave.",
                "Nothing: it starts when they have left, at the latest when their grace is over.");
    }

    Reason noSuchNode(int workers) {
        String what = workers > 1 ? workers + " workers of this shape" : "this shape";
        return ofPool(
                Reason.Code.NO_SUCH_NODE,
                "Even with every node up and empty, pool " + pool + " has no place for " + what + ".",
                "Fitting nodes are added, or a smaller shape is submitted.");
    }

    Reason noExecutor() {
        return ofPool(
                Reason.Code.NO_EXECUTOR,
                "Nothing runs work in pool " + pool + ": no executor is connected to it.",
                "Submit to a queue that uses another pool, or have the operator connect a cluster that runs work to pool "
                        + pool + ".");
    }

    Reason nodesClosed() {
        return ofPool(
                Reason.Code.NODES_CLOSED,
                "The nodes of pool " + pool
                        + " that could take it accept no new work of its tenant now: they are cordoned,"
                        + " being drained or in maintenance, or they serve another tenant only.",
                "Wait until the operator opens such a node of pool " + pool
                        + ", or submit to a queue that uses another pool.");
    }

    Reason behind(long freeNow) {
        return ofPool(
                Reason.Code.BEHIND,
                Amounts.gpusAre(freeNow) + " free " + there() + ", but they are kept for work that comes first.",
                "The work before it starts and leaves room.");
    }

    Reason notItsTurn() {
        return ofPool(
                Reason.Code.BEHIND,
                "Its queue starts its work strictly in order, and work before it has not started.",
                "The work before it starts.");
    }

    Reason noCapacity() {
        return ofPool(
                Reason.Code.NO_CAPACITY,
                "It needs " + Amounts.gpus(requested) + "; " + Amounts.gpusAre(free) + " free " + there() + ".",
                Amounts.gpus(requested - free) + " more come free " + there() + ".");
    }

    Reason fragmented(int workers) {
        String together = workers > 1 ? "places for its " + workers + " workers" : "place on one node";
        return ofPool(
                Reason.Code.FRAGMENTED,
                Amounts.gpusAre(free) + " free " + there() + " and it needs " + Amounts.gpus(requested)
                        + ", but there is no " + together + ".",
                "Work on one node or domain ends, so that " + Amounts.gpus(requested) + " come free together.");
    }

    /** The code of a bound. */
    static Reason.Code code(Admission.Hit hit) {
        return switch (hit.bound()) {
            case UNNAMED, LIMIT, USER_CAP, WORKLOAD_CAP -> Reason.Code.LIMIT;
            case OVER_QUOTA_OFF -> Reason.Code.OVER_QUOTA_OFF;
            case NOT_PREEMPTIBLE -> Reason.Code.NOT_PREEMPTIBLE;
            case HELD_FOR_OTHERS -> Reason.Code.HELD_FOR_OTHERS;
            case CAPACITY -> Reason.Code.NO_CAPACITY;
        };
    }

    /** The path that a bound's reason names. */
    static Optional<QuotaPath> path(Admission.Hit hit) {
        return switch (hit.bound()) {
            case UNNAMED, LIMIT, OVER_QUOTA_OFF, NOT_PREEMPTIBLE ->
                Optional.of(hit.node().path());
            case USER_CAP, WORKLOAD_CAP -> hit.ceiling().map(Ceiling::path);
            case HELD_FOR_OTHERS, CAPACITY -> Optional.empty();
        };
    }

    /** The reason behind a bound of the quota trees. */
    Reason bound(Admission.Hit hit) {
        QuotaNode node = hit.node();
        long over = hit.usedGpuMilli() + requested - hit.boundGpuMilli();
        return switch (hit.bound()) {
            case UNNAMED ->
                ofPath(
                        Reason.Code.LIMIT,
                        hit,
                        "No policy lets " + node.path() + " use " + where(node) + ".",
                        "A policy grants " + node.path() + " something in " + where(node) + ".");
            case LIMIT ->
                ofPath(
                        Reason.Code.LIMIT,
                        hit,
                        node.path() + " holds " + Amounts.gpus(hit.usedGpuMilli()) + " of its limit of "
                                + Amounts.gpus(hit.boundGpuMilli()) + " in " + where(node) + "; "
                                + Amounts.decimal(requested)
                                + " more would pass it."
                                + drain(node, hit.usedGpuMilli()),
                        node.path() + " gives back " + Amounts.gpus(over) + ", or its limit is raised by that.");
            case USER_CAP, WORKLOAD_CAP -> cap(hit, hit.ceiling().orElseThrow());
            case OVER_QUOTA_OFF ->
                ofPath(
                        Reason.Code.OVER_QUOTA_OFF,
                        hit,
                        node.path() + " uses " + Amounts.gpus(hit.usedGpuMilli()) + " of the "
                                + Amounts.gpus(hit.boundGpuMilli()) + " reserved for it in " + where(node)
                                + ", and this work may not go beyond.",
                        node.path() + " gives back " + Amounts.gpus(over) + ", or more is reserved for it.");
            case NOT_PREEMPTIBLE -> notPreemptible(hit, over);
            case HELD_FOR_OTHERS ->
                ofPool(
                        Reason.Code.HELD_FOR_OTHERS,
                        "Idle GPUs in " + where(node) + " are dedicated to others, who do not lend them; "
                                + Amounts.gpus(Math.max(0, hit.boundGpuMilli() - hit.usedGpuMilli()))
                                + " are left for others.",
                        Amounts.gpus(over) + " more come free, or more is reserved for it.");
            case CAPACITY -> noCapacity();
        };
    }

    /** What becomes of what is held beyond the limit, where it is to go. */
    private static String drain(QuotaNode node, long usedGpuMilli) {
        if (node.drainByMillis().isEmpty() || usedGpuMilli <= node.keptGpuMilli()) {
            return "";
        }
        long stays = node.nonPreemptible().now();
        return " What is beyond it is stopped at "
                + Instant.ofEpochMilli(node.drainByMillis().getAsLong())
                + (stays > node.keptGpuMilli()
                        ? ", except " + Amounts.gpus(stays) + " held by work that cannot be preempted."
                        : ".");
    }

    /** The bound is what lasts for as long as the work may run: the end of a capacity reservation may come before. */
    private Reason notPreemptible(Admission.Hit hit, long over) {
        QuotaNode node = hit.node();
        boolean ends = node.reservedGpuMilli() > hit.boundGpuMilli();
        return ofPath(
                Reason.Code.NOT_PREEMPTIBLE,
                hit,
                "Non-preemptible work of " + node.path() + " holds " + Amounts.gpus(hit.usedGpuMilli()) + " of the "
                        + Amounts.gpus(hit.boundGpuMilli()) + " reserved for it in " + where(node)
                        + (ends ? " for as long as this work may run" : "") + ", and may not go beyond.",
                "Non-preemptible work of " + node.path() + " gives back " + Amounts.gpus(over) + ", more is reserved, "
                        + (ends ? "it states a maximum run time that is over before a capacity reservation is, " : "")
                        + "or it is submitted as preemptible.");
    }

    /** A bound on users or on numbers of workloads. */
    private Reason cap(Admission.Hit hit, Ceiling cap) {
        QuotaPath path = cap.path();
        if (cap.user().isEmpty()) {
            return reason(
                    Reason.Code.LIMIT,
                    Optional.of(path),
                    used,
                    OptionalLong.empty(),
                    hit.usedGpuMilli() + " workloads of " + path + " run, of at most " + cap.most() + " at once.",
                    "A workload of " + path + " ends, or more are allowed at once.");
        }
        long over = hit.usedGpuMilli() + requested - cap.most();
        return reason(
                Reason.Code.LIMIT,
                Optional.of(path),
                hit.usedGpuMilli(),
                OptionalLong.of(cap.most()),
                "Its submitter holds " + Amounts.gpus(hit.usedGpuMilli()) + " of the "
                        + Amounts.gpus(cap.most()) + " that one user of " + path + " may hold at once; "
                        + Amounts.decimal(requested) + " more would pass it.",
                "Work of the same user gives back " + Amounts.gpus(over) + ", or the cap per user is raised by that.");
    }

    private Reason ofPath(Reason.Code code, Admission.Hit hit, String sentence, String remedy) {
        return reason(
                code,
                Optional.of(hit.node().path()),
                hit.usedGpuMilli(),
                OptionalLong.of(hit.boundGpuMilli()),
                sentence,
                remedy);
    }

    private static String where(QuotaNode node) {
        return switch (node.tree().scope()) {
            case Scope.OnePool one -> one.pool().value();
            case Scope.AllPools all -> "all pools together";
        };
    }
}
