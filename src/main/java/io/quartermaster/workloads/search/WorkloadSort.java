package io.quartermaster.workloads.search;

import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.workloads.Submission;
import io.quartermaster.workloads.WorkloadApi;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The order of a list of workloads: by a key, and by id among equal keys. A page continues after the key and id of the
 * last workload of the page before. So workloads that come or go meanwhile shift no page.
 */
record WorkloadSort(Key key, boolean descending) {

    /** A key that an index provides in the order of its values. */
    enum Key {
        /** Ids grow with the time of submission. */
        SUBMITTED("w.id", ""),
        STARTED("w.started_at", " and w.started_at is not null"),
        ENDED("w.ended_at", " and w.ended_at is not null"),
        /** The scheduler reads the priority of unfinished work alone, which is little beside all work of the past. */
        PRIORITY("w.priority", WorkloadFilter.IS_LIVE);

        private final String column;
        private final String condition;

        Key(String column, String condition) {
            this.column = column;
            this.condition = condition;
        }
    }

    enum Direction {
        ASC,
        DESC
    }

    /** @param order absent: the largest first */
    static WorkloadSort of(@Nullable String sort, @Nullable String order) {
        ProblemException.Invalid invalid = new ProblemException.Invalid();
        Key key = word(Key.class, "sort", sort, Key.SUBMITTED, invalid);
        Direction direction = word(Direction.class, "order", order, Direction.DESC, invalid);
        invalid.throwIfAny();
        return new WorkloadSort(key, direction == Direction.DESC);
    }

    private static <E extends Enum<E>> E word(
            Class<E> type, String parameter, @Nullable String text, E otherwise, ProblemException.Invalid invalid) {
        if (text == null) {
            return otherwise;
        }
        Optional<E> found = EnumNames.parse(type, text);
        if (found.isEmpty()) {
            invalid.add(parameter, "\"" + Submission.quote(text) + "\" is not accepted", EnumNames.accepted(type));
        }
        return found.orElse(otherwise);
    }

    /** The condition of the order itself, as SQL: only workloads that have its key. */
    String condition() {
        return key.condition;
    }

    String orderBy() {
        String way = descending ? " desc" : "";
        return key == Key.SUBMITTED ? " order by w.id" + way : " order by " + key.column + way + ", w.id" + way;
    }

    /** The condition that a workload comes after the one that a page token names, with its parameters. */
    WorkloadFilter.Conditions after(Optional<String> token) {
        if (token.isEmpty()) {
            return new WorkloadFilter.Conditions("", Map.of());
        }
        String comparison = descending ? " < " : " > ";
        int cut = token.get().lastIndexOf('|');
        Map<String, Object> parameters = new LinkedHashMap<>();
        try {
            parameters.put("afterId", UUID.fromString(token.get().substring(cut + 1)));
            if (key == Key.SUBMITTED) {
                return new WorkloadFilter.Conditions(" and w.id" + comparison + ":afterId", parameters);
            }
            String value = token.get().substring(0, Math.max(0, cut));
            parameters.put("afterKey", key == Key.PRIORITY ? (Object) Integer.valueOf(value) : time(value));
        } catch (IllegalArgumentException e) {
            throw ProblemException.invalid(
                    "pageToken",
                    "not a token of this list",
                    "the nextPageToken of the previous page, with the same sort");
        }
        return new WorkloadFilter.Conditions(
                " and (" + key.column + ", w.id)" + comparison + "(:afterKey, :afterId)", parameters);
    }

    private static OffsetDateTime time(String text) {
        return new ProblemException.Invalid()
                .instant("pageToken", text)
                .orElseThrow(IllegalArgumentException::new)
                .atOffset(ZoneOffset.UTC);
    }

    /** The part of a page token that names this workload. */
    String token(WorkloadApi.View view) {
        Object value =
                switch (key) {
                    case SUBMITTED -> null;
                    case STARTED -> view.startedAt();
                    case ENDED -> view.endedAt();
                    case PRIORITY -> view.priority();
                };
        return value == null ? view.id().toString() : value + "|" + view.id();
    }
}
