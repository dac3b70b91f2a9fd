package io.quartermaster.metering;

import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.GpuTime;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.audit.HashChain;
import io.quartermaster.platform.EnumNames;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.function.Function;

/**
 * One segment of an export.
 *
 * @param chainEnd its place in the tenant's chain; empty while it is provisional
 */
record ExportRecord(Segment segment, Optional<HashChain.End> chainEnd) {

    private static final DateTimeFormatter UTC_MILLIS =
            DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'").withZone(ZoneOffset.UTC);

    /** The fields of a record that can be exported; the words of the mapping file. */
    enum Field {
        ID,
        NUMBER,
        HASH,
        FINAL,
        TENANT,
        POOL,
        CLUSTER,
        GROUP,
        POLICY,
        PROFILE,
        QUEUE,
        WORKLOAD,
        ATTEMPT,
        USER,
        CLASS,
        STANDING,
        PHASE,
        PREEMPTIBLE,
        FROM,
        TO,
        DURATION_MILLIS,
        GPUS,
        GPU_HOURS,
        GPU_MILLI_MILLIS;

        /** The form of the field's text. Amounts of GPUs stay text, as everywhere in the API. */
        ValueType valueType() {
            return switch (this) {
                case NUMBER, DURATION_MILLIS -> ValueType.WHOLE_NUMBER;
                case FINAL, PREEMPTIBLE -> ValueType.BOOLEAN;
                case ID, HASH, TENANT, POOL, CLUSTER, GROUP, POLICY, PROFILE, QUEUE, WORKLOAD, ATTEMPT, USER ->
                    ValueType.TEXT;
                case CLASS, STANDING, PHASE, FROM, TO, GPUS, GPU_HOURS, GPU_MILLI_MILLIS -> ValueType.TEXT;
            };
        }
    }

    /** The form of a field's text, where a format distinguishes forms. */
    enum ValueType {
        TEXT,
        WHOLE_NUMBER,
        BOOLEAN
    }

    /** The field's text; empty where the record has none. */
    Optional<String> text(Field field) {
        return switch (field) {
            case ID -> Optional.of(segment.id().toString());
            case NUMBER -> chainEnd.map(end -> Long.toString(end.number()));
            case HASH -> chainEnd.map(end -> end.hash().hex());
            case FINAL -> Optional.of(Boolean.toString(chainEnd.isPresent()));
            case TENANT -> Optional.of(segment.tenant().value());
            case POOL -> Optional.of(segment.pool().value());
            case CLUSTER -> mark(AllocationMarks::cluster);
            case GROUP -> mark(AllocationMarks::group);
            case POLICY -> mark(allocationMarks -> allocationMarks.policy().value());
            case PROFILE -> mark(AllocationMarks::profile);
            case QUEUE -> mark(AllocationMarks::queue);
            case WORKLOAD -> mark(AllocationMarks::workload);
            case ATTEMPT -> mark(AllocationMarks::attempt);
            case USER -> mark(AllocationMarks::user);
            case CLASS -> Optional.of(EnumNames.of(segment.usageClass()));
            case STANDING -> segment.held().map(held -> EnumNames.of(held.standing()));
            case PHASE -> segment.held().map(held -> EnumNames.of(held.phase()));
            case PREEMPTIBLE -> mark(allocationMarks -> Boolean.toString(allocationMarks.preemptible()));
            case FROM -> Optional.of(time(segment.fromMillis()));
            case TO -> Optional.of(time(segment.toMillis()));
            case DURATION_MILLIS -> Optional.of(Long.toString(segment.toMillis() - segment.fromMillis()));
            case GPUS -> Optional.of(gpus(segment.gpuMilli()));
            case GPU_HOURS -> Optional.of(UsageApi.Amount.hours(GpuTime.of(segment.gpuMilliMillis())));
            case GPU_MILLI_MILLIS -> Optional.of(Long.toString(segment.gpuMilliMillis()));
        };
    }

    private Optional<String> mark(Function<AllocationMarks, String> of) {
        return segment.held().map(held -> of.apply(held.marks()));
    }

    private static String time(long millis) {
        return UTC_MILLIS.format(Instant.ofEpochMilli(millis));
    }

    private static String gpus(long gpuMilli) {
        BigDecimal gpus = BigDecimal.valueOf(gpuMilli, 3).stripTrailingZeros();
        return gpus.scale() < 0 ? gpus.setScale(0).toPlainString() : gpus.toPlainString();
    }
}
