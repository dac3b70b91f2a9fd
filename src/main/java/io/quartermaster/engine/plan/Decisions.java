package io.quartermaster.engine.plan;

import io.quartermaster.engine.model.Allocation;
import io.quartermaster.engine.model.Cause;
import io.quartermaster.engine.model.Decision;
import io.quartermaster.engine.model.GivenUp;
import io.quartermaster.engine.model.Receipt;
import io.quartermaster.engine.model.Settings;
import io.quartermaster.engine.model.Workload;
import io.quartermaster.engine.model.WorkloadId;
import io.quartermaster.engine.model.WorkloadState;
import io.quartermaster.engine.state.Books;
import io.quartermaster.engine.state.Facts;
import io.quartermaster.engine.state.Line;

import io.quartermaster.engine.preemption.Room;
import io.quartermaster.engine.preemption.RoomMaker;
import io.quartermaster.engine.preemption.Stops;
import io.quartermaster.engine.quota.PastUse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** The decisions of one plan, in order, each taken as done in the facts and the books at once. */
final class Decisions {
    private final Settings settings;
    private final Facts facts;
    private final Books books;
    private final RoomMaker roomMaker;
    private final Stops stops;
    private final Optional<PastUse> past;
    private final long nowMillis;
    private final Recorder recorder;
    private final List<Decision> all = new ArrayList<>();
    private final Set<WorkloadId> started = new HashSet<>();
    private boolean postponed;

    Decisions(
            Settings settings,
            Facts facts,
            Books books,
            RoomMaker roomMaker,
            Stops stops,
            Optional<PastUse> past,
            long nowMillis,
            Recorder recorder) {
        this.settings = settings;
        this.facts = facts;
        this.books = books;
        this.roomMaker = roomMaker;
        this.stops = stops;
        this.past = past;
        this.nowMillis = nowMillis;
        this.recorder = recorder;
    }

    List<Decision> all() {
        return Collections.unmodifiableList(all);
    }

    /**
     * Whether this plan may evict or move a workload: not where the plan itself starts it, or some of its workers. The
     * shell could not carry out both. Such an eviction is postponed to the next plan, which then follows at once.
     */
    boolean mayEvict(WorkloadId workload) {
        boolean startedHere = started.contains(workload);
        postponed |= startedHere;
        return !startedHere;
    }

    /** Whether an eviction was postponed to the next plan. */
    boolean hasPostponed() {
        return postponed;
    }

    /**
     * Tells somebody to stop, or to let go of some workers.
     *
     * @param successor for whom
     */
    void evict(Room.Eviction eviction, Optional<WorkloadId> successor) {
        Workload victim = facts.workload(eviction.holder().id());
        WorkloadState.Holding holding = (WorkloadState.Holding) victim.state();
        long deadline = nowMillis + settings.graceMillis();
        if (successor.isPresent()) {
            stops.loses(victim.id());
        }
        if (eviction.whole()) {
            stop(victim, eviction.cause(), successor, eviction.movedTo(), eviction.receipt());
        } else {
            var workers = Books.numbers(eviction.leaving().allocation());
            var allWorkers = new TreeSet<>(workers);
            long lastLeave = deadline;
            if (holding.phase() instanceof WorkloadState.Phase.Shrinking already) {
                allWorkers.addAll(already.workers());
                lastLeave = Math.max(deadline, already.deadlineMillis());
            }
            WorkloadState shrinking =
                    holding.in(new WorkloadState.Phase.Shrinking(eviction.cause(), allWorkers, lastLeave));
            update(victim, victim.withState(shrinking));
            add(new Decision.Shrink(victim.id(), workers, eviction.cause(), successor, deadline, eviction.receipt()));
        }
    }

    /**
     * Starts the head of a line, or lets it grow.
     *
     * @param fromReservation whether it starts from a backfill reservation
     */
    void start(Line line, Allocation place, Decision.Rule rule, boolean fromReservation) {
        Workload head = line.head();
        started.add(head.id());
        stops.gains(head.id());
        if (head.state() instanceof WorkloadState.Waiting) {
            Workload running = head.withState(WorkloadState.running(place, nowMillis, fromReservation));
            facts.put(running);
            roomMaker.decided();
            books.start(line, running);
            countEntry(head, place);
            add(new Decision.Start(head.id(), place, rule, fromReservation));
        } else {
            start(head, place, rule);
        }
    }

    /** What starts counts as past use at once, where the settings say so; not again what was stopped against its will, nor workers that were. */
    private void countEntry(Workload workload, Allocation place) {
        if (past.isPresent() && settings.entryPenaltyMillis() > 0) {
            long gpuMilli =
                    switch (workload.state()) {
                        case WorkloadState.Waiting waiting -> waiting.atHead() ? 0 : place.gpuMilli();
                        case WorkloadState.Holding holding ->
                            place.without(holding.hadBefore()).gpuMilli();
                    };
            past.get()
                    .start(workload.path(), books.cluster().leaves(place.pool(), workload.path()), gpuMilli, nowMillis);
        }
    }

    /** Starts a workload where it is to be, or lets it grow. */
    void start(Workload workload, Allocation place, Decision.Rule rule) {
        started.add(workload.id());
        stops.gains(workload.id());
        countEntry(workload, place);
        switch (workload.state()) {
            case WorkloadState.Waiting waiting -> {
                update(
                        workload,
                        workload.withState(WorkloadState.running(place, nowMillis))
                                .withNomination(Optional.empty()));
                add(new Decision.Start(workload.id(), place, rule));
            }
            case WorkloadState.Holding holding -> {
                WorkloadState grown = holding.with(place, workload.shape());
                update(workload, workload.withState(grown).withNomination(Optional.empty()));
                add(new Decision.Grow(workload.id(), place, rule));
            }
        }
    }

    private void add(Decision decision) {
        all.add(decision);
        recorder.took(decision);
    }

    private void update(Workload before, Workload after) {
        roomMaker.decided();
        facts.put(after);
        books.replace(before, after);
    }

    /** The place kept for a workload is kept no longer. */
    void giveUp(Workload workload, GivenUp why) {
        recorder.gaveUp(workload.nomination().orElseThrow(), why);
        update(workload, workload.withNomination(Optional.empty()));
        add(new Decision.Denominate(workload.id()));
    }

    /** Keeps a place for a workload until it is free. */
    void keep(Workload workload, Allocation place) {
        update(workload, workload.withNomination(Optional.of(place)));
        add(new Decision.Nominate(workload.id(), place));
    }

    /** Tells what is left of a workload to stop, for which nothing can be had in its place. */
    void stop(Workload workload, Cause cause, Receipt receipt) {
        stop(workload, cause, Optional.empty(), Optional.empty(), receipt);
    }

    private void stop(
            Workload workload,
            Cause cause,
            Optional<WorkloadId> successor,
            Optional<Allocation> movedTo,
            Receipt receipt) {
        WorkloadState.Holding holding = (WorkloadState.Holding) workload.state();
        long deadline = nowMillis + settings.graceMillis();
        WorkloadState stopping = holding.in(new WorkloadState.Phase.Stopping(cause, deadline));
        update(workload, workload.withState(stopping).withNomination(movedTo));
        add(new Decision.Preempt(workload.id(), cause, successor, deadline, receipt));
        movedTo.ifPresent(place -> add(new Decision.Nominate(workload.id(), place)));
    }
}
