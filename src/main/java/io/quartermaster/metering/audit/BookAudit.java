package io.quartermaster.metering.audit;

import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.BookState;
import io.quartermaster.ledger.GpuTime;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.PostingResult;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.Usage;
import io.quartermaster.ledger.UsageEvent;
import io.quartermaster.ledger.audit.BookEquations;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.ledger.audit.SegmentReplay;
import io.quartermaster.metering.ClosedHours;
import io.quartermaster.metering.HourSums;
import io.quartermaster.metering.MeteringConfig;
import io.quartermaster.metering.SegmentStore;
import io.quartermaster.metering.UnclosedUsage;
import io.quartermaster.metering.UsageApi;
import io.quartermaster.metering.UsageEventReader;
import io.quartermaster.metering.UsageQuery;
import io.quartermaster.metering.UsageWindow;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.db.SystemDatabase;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Audits the stored usage of one tenant, hour by hour, so that memory is bounded by an hour.
 *
 * <p>Three checks of each closed hour share no code. The chain shows that no segment changed since it was written. The
 * equations show, from events and segments alone, that the amounts are right. A recount of the hour shows that the
 * events give each stored segment, and the state with which the next hour begins. The open usage is counted and checked
 * against the equations too.
 *
 * <p>Not thread-safe; blocks.
 */
final class BookAudit {

    private static final long HOUR_MILLIS = BookState.HOUR_MILLIS;

    private record Sums(GpuTime stated, GpuTime held, Usage.Totals totals) {
        Sums plus(Sums other) {
            return new Sums(stated.plus(other.stated), held.plus(other.held), totals.plus(other.totals));
        }
    }

    private final SystemDatabase database;
    private final MeteringConfig config;
    private final TenantKey tenant;
    private final List<AuditApi.Violation> violations = new ArrayList<>();
    private final TreeMap<PoolKey, Sums> pools = new TreeMap<>();
    private int closedHours;
    private long segments;
    private long events;
    private @Nullable Instant closedUntil;
    private @Nullable Instant asOf;

    BookAudit(SystemDatabase database, MeteringConfig config, TenantKey tenant) {
        this.database = database;
        this.config = config;
        this.tenant = tenant;
    }

    List<AuditApi.Violation> violations() {
        return violations;
    }

    AuditApi.Books books() {
        return new AuditApi.Books(
                tenant.value(),
                closedHours,
                segments,
                events,
                closedUntil,
                asOf,
                pools.entrySet().stream()
                        .map(pool -> poolSums(pool.getKey(), pool.getValue()))
                        .toList());
    }

    private static AuditApi.PoolSums poolSums(PoolKey pool, Sums sums) {
        return new AuditApi.PoolSums(
                pool.value(),
                UsageApi.Amount.of(sums.stated()),
                UsageApi.Amount.of(sums.held()),
                UsageApi.Amount.of(sums.totals().reserved()),
                UsageApi.Amount.of(sums.totals().reservedIdle()),
                UsageApi.Amount.of(sums.totals().onDemand()),
                UsageApi.Amount.of(sums.totals().reservedUnmet()));
    }

    /**
     * Audits the hours that end in the window, and its open part. Data that cannot be read is a violation, and ends the
     * audit of this tenant.
     */
    void run(UsageWindow usageWindow) {
        try {
            ClosedHours.HourEnd before = database.run(config.statementTimeout(), tx -> ClosedHours.lastWithBook(
                            UsageQuery.of(tx), tenant, usageWindow.fromMillis())
                    .await()
                    .indefinitely());
            boolean more = true;
            while (more) {
                Optional<ClosedHours.HourEnd> next = auditNextHour(before, usageWindow);
                more = next.isPresent();
                before = next.orElse(before);
            }
            if (usageWindow.toMillis() > before.endMillis()) {
                auditOpenPart(usageWindow);
            }
        } catch (RuntimeException e) {
            addViolation("readable", tenant.value(), null, null, String.valueOf(e.getMessage()));
        }
    }

    /** The next hour, with its book: the kept one, or else the one that follows from the events. */
    private Optional<ClosedHours.HourEnd> auditNextHour(ClosedHours.HourEnd before, UsageWindow usageWindow) {
        return database.run(config.statementTimeout(), tx -> {
            UsageQuery usageQuery = UsageQuery.of(tx);
            Optional<ClosedHours.HourEnd> found = ClosedHours.firstAfter(usageQuery, tenant, before.endMillis())
                    .await()
                    .indefinitely()
                    .filter(hour -> hour.endMillis() <= usageWindow.toMillis());
            if (found.isEmpty()) {
                return found;
            }
            ClosedHours.HourEnd next = found.get();
            List<UsageEvent> hourEvents = UsageEventReader.read(
                            usageQuery, tenant.value(), before.throughSeq(), next.throughSeq(), Integer.MAX_VALUE)
                    .await()
                    .indefinitely();
            Optional<BookState> bookAtEnd;
            if (next.endMillis() <= usageWindow.fromMillis()) {
                // Before the window, counted only to have the book with which the window begins.
                bookAtEnd = replayBook(before, next, hourEvents);
            } else {
                List<SegmentStore.StoredSegment> stored = SegmentStore.readHour(usageQuery, tenant, next.endMillis())
                        .await()
                        .indefinitely();
                List<HourSums.SumMismatch> sums = HourSums.findMismatches(usageQuery, tenant, next.endMillis())
                        .await()
                        .indefinitely();
                bookAtEnd = auditHour(before, next, stored, sums, hourEvents);
            }
            return Optional.of(new ClosedHours.HourEnd(
                    next.endMillis(), next.throughSeq(), next.book().or(() -> bookAtEnd), next.chain()));
        });
    }

    private Optional<BookState> auditHour(
            ClosedHours.HourEnd before,
            ClosedHours.HourEnd hour,
            List<SegmentStore.StoredSegment> stored,
            List<HourSums.SumMismatch> sums,
            List<UsageEvent> hourEvents) {
        if (++closedHours > config.auditHoursLimit()) {
            throw new IllegalStateException(
                    "more than " + config.auditHoursLimit() + " closed hours; choose a shorter window");
        }
        segments += stored.size();
        events += hourEvents.size();
        closedUntil = Instant.ofEpochMilli(hour.endMillis());
        long begin = hour.endMillis() - HOUR_MILLIS;
        if (before.endMillis() > 0 && before.endMillis() != begin) {
            addViolation("hours-follow-each-other", "hour", begin, time(before.endMillis()), time(begin));
        }
        sums.forEach(sum -> addViolation(
                "sums-equal-segments",
                sum.subject(),
                hour.endMillis(),
                Long.toString(sum.expected()),
                Long.toString(sum.found())));
        checkChain(before, hour, stored);
        checkIdsAndHours(begin, hour, stored);
        if (before.book().isEmpty()) {
            // An earlier hour does not follow from its events, which is reported. The next kept book is the next begin.
            return Optional.empty();
        }
        List<Segment> found =
                stored.stream().map(SegmentStore.StoredSegment::segment).toList();
        checkEquations(before.state(), hourEvents, found, begin, hour.endMillis());
        return replaySegments(before, hour, found, hourEvents);
    }

    private void checkChain(
            ClosedHours.HourEnd before, ClosedHours.HourEnd hour, List<SegmentStore.StoredSegment> stored) {
        List<HashChain.Link> links =
                stored.stream().map(SegmentStore.StoredSegment::link).toList();
        switch (HashChain.verify(before.chain(), links, hour.chain())) {
            case HashChain.Broken(long number, HashChain.Fault fault) ->
                addViolation(
                        "hash-chain",
                        "segment " + number,
                        hour.endMillis(),
                        "as it was written",
                        fault.name().toLowerCase(Locale.ROOT));
            case HashChain.Intact(HashChain.End end) -> {
                if (!end.equals(hour.chain())) {
                    addViolation(
                            "hash-chain",
                            "segment " + end.number(),
                            hour.endMillis(),
                            hour.chain().number() + " segments",
                            end.number() + " segments");
                }
            }
        }
    }

    private void checkIdsAndHours(long begin, ClosedHours.HourEnd hour, List<SegmentStore.StoredSegment> stored) {
        for (SegmentStore.StoredSegment each : stored) {
            Segment segment = each.segment();
            String subject = "segment " + each.number();
            if (!segment.id().toString().equals(each.storedId())) {
                addViolation(
                        "id-of-its-content",
                        subject,
                        segment.fromMillis(),
                        segment.id().toString(),
                        each.storedId());
            }
            if (segment.fromMillis() < begin || segment.toMillis() > hour.endMillis()) {
                addViolation("in-its-hour", subject, segment.fromMillis(), time(begin), time(segment.fromMillis()));
            }
        }
    }

    private void checkEquations(
            BookState opening, List<UsageEvent> windowEvents, List<Segment> found, long fromMillis, long toMillis) {
        BookEquations.Report report = BookEquations.check(opening, windowEvents, found, fromMillis, toMillis);
        report.pools()
                .forEach(sums ->
                        pools.merge(sums.pool(), new Sums(sums.stated(), sums.held(), sums.totals()), Sums::plus));
        report.violations()
                .forEach(violation -> addViolation(
                        EnumNames.of(violation.rule()),
                        violation.subject(),
                        violation.atMillis(),
                        Long.toString(violation.expected()),
                        Long.toString(violation.found())));
    }

    private Optional<BookState> replaySegments(
            ClosedHours.HourEnd before, ClosedHours.HourEnd hour, List<Segment> stored, List<UsageEvent> hourEvents) {
        switch (SegmentReplay.compare(before.state(), hourEvents, stored, hour.endMillis())) {
            case SegmentReplay.Match match -> {}
            case SegmentReplay.Mismatch(Optional<Segment> replayed, Optional<Segment> found) ->
                addViolation(
                        "segments-follow-from-events",
                        "segment " + replayed.or(() -> found).orElseThrow().id(),
                        hour.endMillis(),
                        text(replayed),
                        text(found));
            case SegmentReplay.RefusedEvent(PostingResult.Refused refused) -> {
                addRefusedEvent(refused);
                return Optional.empty();
            }
        }
        return replayBook(before, hour, hourEvents);
    }

    /** The book at the end of an hour, counted from the one before; a kept book that differs is a violation. */
    private Optional<BookState> replayBook(
            ClosedHours.HourEnd before, ClosedHours.HourEnd hour, List<UsageEvent> hourEvents) {
        if (before.book().isEmpty()) {
            return Optional.empty();
        }
        Book book = Book.resume(before.state());
        for (UsageEvent event : hourEvents) {
            if (book.apply(event) instanceof PostingResult.Refused refused) {
                addRefusedEvent(refused);
                return Optional.empty();
            }
        }
        book.close(hour.endMillis());
        BookState counted = book.state();
        if (hour.book().filter(kept -> !kept.equals(counted)).isPresent()) {
            addViolation("state-follows-from-events", "hour", hour.endMillis(), "the state of the book", "another one");
        }
        return Optional.of(counted);
    }

    private void addRefusedEvent(PostingResult.Refused refused) {
        addViolation(
                "events-follow-from-state",
                "usage event " + refused.event().seq(),
                refused.event().atMillis(),
                null,
                refused.reason());
    }

    private void auditOpenPart(UsageWindow usageWindow) {
        UnclosedUsage open = database.run(
                config.statementTimeout(), tx -> UnclosedUsage.read(UsageQuery.of(tx), tenant, config.openEventsLimit())
                        .await()
                        .indefinitely());
        long until = Math.min(usageWindow.toMillis(), open.stampMillis());
        long begin = open.closed().endMillis();
        if (open.events().isEmpty() && begin == 0 || until <= begin) {
            return;
        }
        events += open.events().size();
        asOf = Instant.ofEpochMilli(until);
        checkEquations(open.closed().state(), open.events(), open.segments(until), begin, until);
    }

    private void addViolation(
            String rule, String subject, @Nullable Long atMillis, @Nullable String expected, @Nullable String found) {
        violations.add(new AuditApi.Violation(
                tenant.value(),
                rule,
                subject,
                atMillis == null ? null : Instant.ofEpochMilli(atMillis),
                expected,
                found));
    }

    private static String time(long millis) {
        return Instant.ofEpochMilli(millis).toString();
    }

    private static String text(Optional<Segment> segment) {
        return segment.map(s -> s.canonicalText().replace('\n', ' ')).orElse("none");
    }
}
