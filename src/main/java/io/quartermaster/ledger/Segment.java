package io.quartermaster.ledger;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.Optional;
import java.util.UUID;

/**
 * A stretch of time, {@code [fromMillis, toMillis)}, in which an amount of one class was held or reserved and none of
 * its marks changed. Segments are cut at every full hour (UTC) and are otherwise as long as possible: two adjacent
 * segments of one allocation, class and standing within an hour differ in amount or phase.
 *
 * @param held the allocation that held it; absent for the classes without one (reserved-idle, reserved-unmet)
 * @param gpuMilli thousandths of a GPU, never 0
 */
public record Segment(
        TenantKey tenant,
        PoolKey pool,
        UsageClass usageClass,
        Optional<Held> held,
        long gpuMilli,
        long fromMillis,
        long toMillis) {

    /** The version of {@link #canonicalText}. A change of the text's lines needs a new version. */
    public static final int FORMAT = 1;

    /** Room for most texts, so that they are not copied while they grow. */
    private static final int TEXT_LENGTH = 768;

    /** By time, then by the fields that make up the id; no two segments of a ledger compare equal. */
    public static final Comparator<Segment> ORDER = Comparator.comparingLong(Segment::fromMillis)
            .thenComparing(Segment::tenant)
            .thenComparing(Segment::pool)
            .thenComparing(Segment::usageClass)
            .thenComparing(s -> s.held().map(Held::standing), Segment::absentFirst)
            .thenComparing(s -> s.held().map(h -> h.allocation().value()).orElse(""));

    private static int absentFirst(Optional<Standing> left, Optional<Standing> right) {
        return left.isPresent() && right.isPresent()
                ? left.get().compareTo(right.get())
                : Boolean.compare(left.isPresent(), right.isPresent());
    }

    /** The allocation that held a segment, with its state during the segment. */
    public record Held(AllocationId allocation, Standing standing, Phase phase, AllocationMarks marks) {}

    public Segment {
        if (usageClass.isHeld() != held.isPresent()) {
            throw new IllegalArgumentException(usageClass + (held.isPresent() ? " is not held" : " must be held"));
        }
        if (gpuMilli <= 0 || fromMillis < 0 || fromMillis >= toMillis) {
            throw new IllegalArgumentException("a segment needs an amount and a length, but has gpuMilli " + gpuMilli
                    + " in [" + fromMillis + ", " + toMillis + ")");
        }
    }

    public static Segment held(
            TenantKey tenant, PoolKey pool, UsageClass usageClass, Held held, long gpuMilli, long from, long to) {
        return new Segment(tenant, pool, usageClass, Optional.of(held), gpuMilli, from, to);
    }

    public static Segment notHeld(
            TenantKey tenant, PoolKey pool, UsageClass usageClass, long gpuMilli, long from, long to) {
        return new Segment(tenant, pool, usageClass, Optional.empty(), gpuMilli, from, to);
    }

    /** The same segment, cut to other instants. */
    public Segment between(long from, long to) {
        return new Segment(tenant, pool, usageClass, held, gpuMilli, from, to);
    }

    /** The amount times the length, in thousandths of a GPU times milliseconds. */
    public long gpuMilliMillis() {
        return Math.multiplyExact(gpuMilli, toMillis - fromMillis);
    }

    /**
     * A name-based id: the same usage always has the same id, however often it is computed or sent. The end and the
     * amount are not part of the name, so a segment that still grows keeps its id. An allocation has at most one
     * segment of a class and standing at an instant, so the other fields identify it. The id is the SHA-256 of the
     * name, cut to a UUID of version 8 (RFC 9562, section 5.8).
     */
    public UUID id() {
        StringBuilder name = new StringBuilder("segment");
        appendLine(name, "tenant", tenant.value());
        appendLine(name, "pool", pool.value());
        appendLine(name, "class", usageClass.name());
        appendLine(name, "from", Long.toString(fromMillis));
        held.ifPresent(h -> {
            appendLine(name, "allocation", h.allocation().value());
            appendLine(name, "standing", h.standing().name());
        });
        ByteBuffer hash = ByteBuffer.wrap(Sha256.of(name.toString().getBytes(StandardCharsets.UTF_8)));
        long high = (hash.getLong() & 0xffffffffffff0fffL) | 0x8000L;
        long low = (hash.getLong() & 0x3fffffffffffffffL) | 0x8000000000000000L;
        return new UUID(high, low);
    }

    /**
     * The text that is hashed: one {@code key=value} line per field, always in this order. Backslashes and line ends
     * are escaped, so two different segments never have the same text.
     */
    public String canonicalText() {
        return canonicalText(id());
    }

    /** As the method above, for a caller that has computed {@link #id} already. */
    public String canonicalText(UUID id) {
        StringBuilder text = new StringBuilder(TEXT_LENGTH).append("segment");
        appendLine(text, "id", id.toString());
        appendLine(text, "tenant", tenant.value());
        appendLine(text, "pool", pool.value());
        appendLine(text, "class", usageClass.name());
        appendLine(text, "gpuMilli", Long.toString(gpuMilli));
        appendLine(text, "from", Long.toString(fromMillis));
        appendLine(text, "to", Long.toString(toMillis));
        held.ifPresent(h -> {
            appendLine(text, "allocation", h.allocation().value());
            appendLine(text, "standing", h.standing().name());
            appendLine(text, "phase", h.phase().name());
            AllocationMarks allocationMarks = h.marks();
            appendLine(text, "policy", allocationMarks.policy().value());
            appendLine(text, "group", allocationMarks.group());
            appendLine(text, "profile", allocationMarks.profile());
            appendLine(text, "queue", allocationMarks.queue());
            appendLine(text, "workload", allocationMarks.workload());
            appendLine(text, "attempt", allocationMarks.attempt());
            appendLine(text, "user", allocationMarks.user());
            appendLine(text, "cluster", allocationMarks.cluster());
            appendLine(text, "preemptible", Boolean.toString(allocationMarks.preemptible()));
        });
        return text.toString();
    }

    private static void appendLine(StringBuilder text, String key, String value) {
        text.append('\n').append(key).append('=');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            switch (c) {
                case '\\' -> text.append("\\\\");
                case '\n' -> text.append("\\n");
                case '\r' -> text.append("\\r");
                default -> text.append(c);
            }
        }
    }
}
