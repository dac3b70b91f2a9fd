package io.quartermaster.workloads.search;

import io.quartermaster.access.GroupPath;
import io.quartermaster.engine.model.Reason;
import io.quartermaster.platform.LabelSyntax;
import io.quartermaster.platform.http.ProblemException.Invalid;
import io.quartermaster.workloads.Submission;
import io.quartermaster.workloads.WorkloadState;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.UriInfo;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.annotations.enums.Explode;
import org.eclipse.microprofile.openapi.annotations.enums.SchemaType;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.eclipse.microprofile.openapi.annotations.parameters.Parameter;
import org.jspecify.annotations.Nullable;

/** The query parameters that choose workloads, for lists, counts and cancellations. All given ones must match. */
public final class WorkloadFilterParams {

    static final int MAX_LABELS = 8;

    private static final Set<String> PARAMETERS = Set.of(
            "state",
            "reason",
            "queue",
            "group",
            "pool",
            "submittedBy",
            "name",
            "label",
            "submittedFrom",
            "submittedUntil");

    private static final String LABEL_ACCEPTED = "key=value, or a key alone for any value; up to " + MAX_LABELS;

    /** The codes of reasons that the leader adds to those of the engine. */
    static final List<String> LEADER_CODES = List.of("QUEUE_HELD", "RETRY", "SET_ASIDE");

    @Context
    @Nullable
    UriInfo uri;

    @QueryParam("state")
    @Parameter(
            description = "One or more states, separated by commas. Absent: all.",
            explode = Explode.FALSE,
            schema = @Schema(ref = "WorkloadStates"))
    @Nullable
    String state;

    @QueryParam("reason")
    @Parameter(
            description = "Only workloads that wait for one of these reasons, separated by commas.",
            explode = Explode.FALSE,
            schema = @Schema(ref = "WaitReasonCodes"))
    @Nullable
    String reason;

    @QueryParam("queue")
    @Parameter(description = "Only workloads of this queue.")
    @Nullable
    String queue;

    @QueryParam("group")
    @Parameter(description = "A group path; it includes the subgroups.")
    @Nullable
    String group;

    @QueryParam("pool")
    @Parameter(
            description = "Only workloads that may start in this pool, and those whose newest attempt is or was in it.")
    @Nullable
    String pool;

    @QueryParam("submittedBy")
    @Parameter(description = "Only workloads that this user or service account submitted.")
    @Nullable
    String submittedBy;

    @QueryParam("name")
    @Parameter(description = "The beginning of the name.")
    @Nullable
    String name;

    @QueryParam("label")
    @Parameter(
            description = "Only workloads with this label: `key=value`, or a key alone for any value. Given several "
                    + "times, all must match.",
            example = "team=nlp")
    @Nullable
    List<String> label;

    @QueryParam("submittedFrom")
    @Parameter(
            description = "Only workloads that were submitted at this time or later.",
            schema = @Schema(type = SchemaType.STRING, format = "date-time"))
    @Nullable
    String submittedFrom;

    @QueryParam("submittedUntil")
    @Parameter(
            description = "Only workloads that were submitted before this time.",
            schema = @Schema(type = SchemaType.STRING, format = "date-time"))
    @Nullable
    String submittedUntil;

    /** The words of the parameters {@code state} and {@code reason}. */
    public record Words(List<String> states, List<String> reasons) {}

    /** Reads the parameters of the same names. Fails with a problem that names each that is not accepted. */
    public static Words words(@Nullable String state, @Nullable String reason) {
        Invalid invalid = new Invalid();
        WorkloadFilterParams params = new WorkloadFilterParams();
        params.state = state;
        params.reason = reason;
        List<WorkloadState> states = params.states(invalid);
        List<String> reasons = params.reasons(invalid);
        invalid.throwIfAny();
        return new Words(states.stream().map(WorkloadState::word).toList(), reasons);
    }

    /** The filter. Fails with a problem that names every parameter that is not accepted. */
    WorkloadFilter filter() {
        Invalid invalid = new Invalid();
        refuseEmpty(invalid);
        invalid.throwIfAny();
        List<WorkloadState> states = states(invalid);
        List<String> reasons = reasons(invalid);
        Optional<GroupPath> path = group(invalid);
        List<WorkloadFilter.Label> labels = labels(invalid);
        Optional<Instant> from = invalid.instant("submittedFrom", submittedFrom);
        Optional<Instant> until = invalid.instant("submittedUntil", submittedUntil);
        if (from.isPresent() && until.isPresent()) {
            invalid.check(
                    !from.get().isAfter(until.get()),
                    "submittedFrom",
                    "is after submittedUntil",
                    "a time not after " + until.get());
        }
        invalid.throwIfAny();
        return new WorkloadFilter(
                states,
                reasons,
                Optional.ofNullable(queue),
                path,
                Optional.ofNullable(pool),
                Optional.ofNullable(submittedBy),
                Optional.ofNullable(name),
                labels,
                from,
                until);
    }

    /**
     * An empty parameter must not widen a list or a cancellation: the framework provides no value for it, as if it was
     * absent.
     */
    private void refuseEmpty(Invalid invalid) {
        if (uri != null) {
            uri.getQueryParameters().forEach((parameter, values) -> {
                if (PARAMETERS.contains(parameter)) {
                    invalid.check(
                            values.stream().noneMatch(String::isBlank),
                            parameter,
                            "is empty",
                            "a value, or no such parameter");
                }
            });
        }
    }

    private List<WorkloadState> states(Invalid invalid) {
        List<WorkloadState> states = new ArrayList<>();
        for (String word : words(state)) {
            try {
                states.add(WorkloadState.of(word.strip()));
            } catch (IllegalArgumentException e) {
                invalid.add(
                        "state",
                        "\"" + word + "\" is not a state of a workload",
                        "one or more, separated by commas: held, waiting, starting, running, stopping, paused,"
                                + " succeeded, failed, cancelled");
            }
        }
        return states;
    }

    private List<String> reasons(Invalid invalid) {
        List<String> known = codes();
        List<String> codes = new ArrayList<>();
        for (String word : words(reason)) {
            String code = word.strip();
            if (known.contains(code)) {
                codes.add(code);
            } else {
                invalid.add(
                        "reason",
                        "\"" + word + "\" is not the code of a reason why work waits",
                        "one or more, separated by commas: " + String.join(", ", known));
            }
        }
        return codes;
    }

    /** The codes of all reasons why a workload waits. */
    static List<String> codes() {
        return Stream.concat(Arrays.stream(Reason.Code.values()).map(Enum::name), LEADER_CODES.stream())
                .toList();
    }

    private static List<String> words(@Nullable String text) {
        return text == null ? List.of() : Arrays.asList(text.split(",", -1));
    }

    private Optional<GroupPath> group(Invalid invalid) {
        if (group == null) {
            return Optional.empty();
        }
        if (!GroupPath.isValid(group)) {
            invalid.add("group", "is not a group path", "a path such as /research/nlp");
            return Optional.empty();
        }
        return Optional.of(new GroupPath(group));
    }

    private List<WorkloadFilter.Label> labels(Invalid invalid) {
        List<String> given = label == null ? List.of() : label;
        if (given.size() > MAX_LABELS) {
            invalid.add("label", "it is given " + given.size() + " times", LABEL_ACCEPTED);
            return List.of();
        }
        List<WorkloadFilter.Label> labels = new ArrayList<>();
        for (String text : given) {
            int cut = text.indexOf('=');
            String key = cut < 0 ? text : text.substring(0, cut);
            if (LabelSyntax.isKey(key)) {
                labels.add(new WorkloadFilter.Label(
                        key, cut < 0 ? Optional.empty() : Optional.of(text.substring(cut + 1))));
            } else {
                invalid.add("label", "\"" + Submission.quote(text) + "\" does not begin with a key", LABEL_ACCEPTED);
            }
        }
        return labels;
    }

    /** The parameters that are given, as an audit entry shows them. */
    String inWords() {
        return Stream.of(
                        given("state", state),
                        given("reason", reason),
                        given("queue", queue),
                        given("group", group),
                        given("pool", pool),
                        given("submittedBy", submittedBy),
                        given("name", name),
                        given("label", label == null || label.isEmpty() ? null : String.join(",", label)),
                        given("submittedFrom", submittedFrom),
                        given("submittedUntil", submittedUntil))
                .flatMap(Optional::stream)
                .collect(Collectors.joining("&"));
    }

    private static Optional<String> given(String parameter, @Nullable String value) {
        return Optional.ofNullable(value).map(text -> parameter + "=" + text);
    }
}
