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
            ClosedHours.Closed before = database.run(config.statementTimeout(), tx -> ClosedHours.lastWithBook(
                            UsageQuery.of(tx), tenant, usageWindow.fromMillis())
                    .await()
                    .indefinitely());
            boolean more = true;
            while (more) {
                Optional<ClosedHours.Closed> next = hourAfter(before, usageWindow);
                more = next.isPresent();
                before = next.orElse(before);
            }
            if (usageWindow.toMillis() > before.endMillis()) {
                open(usageWindow);
            }
        } catch (RuntimeException e) {
            add("readable", tenant.value(), null, null, String.valueOf(e.getMessage()));
        }
    }

    /** The next hour, with its book: the kept one, or else the one that follows from the events. */
    private Optional<ClosedHours.Closed> hourAfter(ClosedHours.Closed before, UsageWindow usageWindow) {
        return database.run(config.statementTimeout(), tx -> {
            UsageQuery usageQuery = UsageQuery.of(tx);
            Optional<ClosedHours.Closed> found = ClosedHours.firstAfter(usageQuery, tenant, before.endMillis())
                    .await()
                    .indefinitely()
                    .filter(hour -> hour.endMillis() <= usageWindow.toMillis());
            if (found.isEmpty()) {
                return found;
            }
            ClosedHours.Closed next = found.get();
            List<UsageEvent> said = UsageEventReader.read(
                            usageQuery, tenant.value(), before.throughSeq(), next.throughSeq(), Integer.MAX_VALUE)
                    .await()
                    .indefinitely();
            Optional<BookState> counted;
            if (next.endMillis() <= usageWindow.fromMillis()) {
                // Before the window, counted only to have the book with which the window begins.
                counted = bookAfter(before, next, said);
            } else {
                List<SegmentStore.Stored> stored = SegmentStore.ofHour(usageQuery, tenant, next.endMillis())
                        .await()
                        .indefinitely();
                List<SumAudit.Difference> sums = SumAudit.differences(tx, tenant, next.endMillis());
                counted = hour(before, next, stored, sums, said);
            }
            return Optional.of(new ClosedHours.Closed(
                    next.endMillis(), next.throughSeq(), next.book().or(() -> counted), next.chain()));
        });
    }

    private Optional<BookState> hour(
            ClosedHours.Closed before,
            ClosedHours.Closed hour,
            List<SegmentStore.Stored> stored,
            List<SumAudit.Difference> sums,
            List<UsageEvent> said) {
        if (++closedHours > config.auditHoursLimit()) {
            throw new IllegalStateException(
                    "more than " + config.auditHoursLimit() + " closed hours; choose a shorter window");
        }
        segments += stored.size();
        events += said.size();
        closedUntil = Instant.ofEpochMilli(hour.endMillis());
        long begin = hour.endMillis() - HOUR_MILLIS;
        if (before.endMillis() > 0 && before.endMillis() != begin) {
            add("hours-follow-each-other", "hour", begin, time(before.endMillis()), time(begin));
        }
        sums.forEach(sum -> add(
                "sums-equal-segments",
                sum.subject(),
                hour.endMillis(),
                Long.toString(sum.expected()),
                Long.toString(sum.found())));
        chain(before, hour, stored);
        places(begin, hour, stored);
        if (before.book().isEmpty()) {
            // An earlier hour does not follow from its events, which is reported. The next kept book is the next begin.
            return Optional.empty();
        }
        List<Segment> found = stored.stream().map(SegmentStore.Stored::segment).toList();
        equations(before.state(), said, found, begin, hour.endMillis());
        return countAnew(before, hour, found, said);
    }

    private void chain(ClosedHours.Closed before, ClosedHours.Closed hour, List<SegmentStore.Stored> stored) {
        List<HashChain.Link> links =
                stored.stream().map(SegmentStore.Stored::link).toList();
        switch (HashChain.verify(before.chain(), links, hour.chain())) {
            case HashChain.Broken(long number, HashChain.Fault fault) ->
                add(
                        "hash-chain",
                        "segment " + number,
                        hour.endMillis(),
                        "as it was written",
                        fault.name().toLowerCase(Locale.ROOT));
            case HashChain.Intact(HashChain.End end) -> {
                if (!end.equals(hour.chain())) {
                    add(
                            "hash-chain",
                            "segment " + end.number(),
                            hour.endMillis(),
                            hour.chain().number() + " segments",
                            end.number() + " segments");
                }
            }
        }
    }

    private void places(long begin, ClosedHours.Closed hour, List<SegmentStore.Stored> stored) {
        for (SegmentStore.Stored each : stored) {
            Segment segment = each.segment();
            String subject = "segment " + each.number();
            if (!segment.id().toString().equals(each.storedId())) {
                add(
                        "id-of-its-content",
                        subject,
                        segment.fromMillis(),
                        segment.id().toString(),
                        each.storedId());
            }
            if (segment.fromMillis() < begin || segment.toMillis() > hour.endMillis()) {
                add("in-its-hour", subject, segment.fromMillis(), time(begin), time(segment.fromMillis()));
            }
        }
    }

    private void equations(
            BookState opening, List<UsageEvent> said, List<Segment> found, long fromMillis, long toMillis) {
        BookEquations.Report report = BookEquations.check(opening, said, found, fromMillis, toMillis);
        report.pools()
                .forEach(sums ->
                        pools.merge(sums.pool(), new Sums(sums.stated(), sums.held(), sums.totals()), Sums::plus));
        report.violations()
                .forEach(violation -> add(
                        EnumNames.of(violation.rule()),
                        violation.subject(),
                        violation.atMillis(),
                        Long.toString(violation.expected()),
                        Long.toString(violation.found())));
    }

    private Optional<BookState> countAnew(
            ClosedHours.Closed before, ClosedHours.Closed hour, List<Segment> stored, List<UsageEvent> said) {
        switch (SegmentReplay.compare(before.state(), said, stored, hour.endMillis())) {
            case SegmentReplay.Same same -> {}
            case SegmentReplay.Differs(Optional<Segment> replayed, Optional<Segment> found) ->
                add(
                        "segments-follow-from-events",
                        "segment " + replayed.or(() -> found).orElseThrow().id(),
                        hour.endMillis(),
                        text(replayed),
                        text(found));
            case SegmentReplay.Stuck(PostingResult.Refused refused) -> {
                stuck(refused);
                return Optional.empty();
            }
        }
        return bookAfter(before, hour, said);
    }

    /** The book at the end of an hour, counted from the one before; a kept book that differs is a violation. */
    private Optional<BookState> bookAfter(ClosedHours.Closed before, ClosedHours.Closed hour, List<UsageEvent> said) {
        if (before.book().isEmpty()) {
            return Optional.empty();
        }
        Book book = Book.resume(before.state());
        for (UsageEvent event : said) {
            if (book.apply(event) instanceof PostingResult.Refused refused) {
                stuck(refused);
                return Optional.empty();
            }
        }
        book.close(hour.endMillis());
        BookState counted = book.state();
        if (hour.book().filter(kept -> !kept.equals(counted)).isPresent()) {
            add("state-follows-from-events", "hour", hour.endMillis(), "the state of the book", "another one");
        }
        return Optional.of(counted);
    }

    private void stuck(PostingResult.Refused refused) {
        add(
                "events-follow-from-state",
                "usage event " + refused.event().seq(),
                refused.event().atMillis(),
                null,
                refused.reason());
    }

    private void open(UsageWindow usageWindow) {
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
        equations(open.closed().state(), open.events(), open.segments(until), begin, until);
    }

    private void add(
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
