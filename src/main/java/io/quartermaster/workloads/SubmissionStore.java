package io.quartermaster.workloads;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.writes.TenantWrites.KeyedAnswer;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.Nullable;

/**
 * Stores submissions with the function {@code submit_workloads}: the rows of the workloads, the inbox rows that name
 * them, and the answers of their keys. The function joins each queue, its policy and its profile again. So no workload
 * enters a retired queue, or enters under terms, rights or access rules that have changed since they were read.
 */
@ApplicationScoped
class SubmissionStore {

    private static final String SUBMIT = "select member, outcome from submit_workloads($1, $2, $3)";
    private static final String SUBMIT_IN_SESSION =
            "select outcome from submit_workloads(:tenant, cast(:members as text), cast(:rows as text))";

    private final TenantTransactions transactions;
    private final ObjectMapper json;

    SubmissionStore(TenantTransactions transactions, ObjectMapper json) {
        this.transactions = transactions;
        this.json = json;
    }

    /** What became of a member of a call. */
    enum Outcome {
        /** All its workloads are stored, and the answer of its key. */
        ENTERED,
        /** Nothing is stored: a queue, its terms or the tenant changed after they were read. */
        OUTDATED,
        /** Nothing is stored: its key has a stored answer. */
        REPEATED
    }

    /**
     * One submission, stored whole or not at all.
     *
     * @param username of the submitter
     * @param subject of the submitter
     */
    record Member(String username, String subject, Optional<KeyedAnswer> keyed, List<SubmittedRow> rows) {
        Member {
            rows = List.copyOf(rows);
        }
    }

    /** A row of {@code workload} as the function reads it; its fields have the names in that function. */
    @JsonNaming(PropertyNamingStrategies.SnakeCaseStrategy.class)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record SubmittedRow(
            UUID id,
            String name,
            String type,
            UUID queue,
            long version,
            long rulesVersion,
            long policyVersion,
            long profileVersion,
            int priority,
            boolean preemptible,
            boolean dedicatedOnly,
            @Nullable List<@Nullable String> command,
            Map<String, @Nullable String> environment,
            @Nullable List<@Nullable String> abortCallback,
            @Nullable Long maxRuntimeMs,
            @Nullable Integer gpus,
            @Nullable Integer minGpus,
            Map<String, @Nullable String> labels,
            String wish,
            String state) {

        static SubmittedRow of(UUID id, Submission item, QueueTerms queue) {
            return new SubmittedRow(
                    id,
                    String.valueOf(item.name()),
                    item.requiredType().word(),
                    queue.id(),
                    queue.versions().queue(),
                    queue.versions().rules(),
                    queue.versions().policy(),
                    queue.versions().profile(),
                    queue.rights().priority(item.requiredType(), item.priority()),
                    SubmissionRightsValidator.preemptible(item.requiredType(), item.preemptible()),
                    Boolean.TRUE.equals(item.dedicatedOnly()),
                    item.command(),
                    item.environment() == null ? Map.of() : item.environment(),
                    item.abortCallback(),
                    item.maxRuntime() == null ? null : item.maxRuntime().toMillis(),
                    item.namedGpus().isPresent() ? item.namedGpus().getAsInt() : null,
                    item.namedMinGpus().isPresent() ? item.namedMinGpus().getAsInt() : null,
                    item.labels() == null ? Map.of() : item.labels(),
                    item.desiredState().word(),
                    WorkloadState.submitted(item.desiredState()).word());
        }
    }

    /**
     * A row with the number of its member, and its place among the rows of that member.
     *
     * @param m the number of the member
     */
    record NumberedRow(int m, int n, @JsonUnwrapped SubmittedRow row) {}

    /** A member as the function reads it. */
    @JsonInclude(JsonInclude.Include.NON_NULL)
    record MemberRow(
            int m,
            int workloads,
            String username,
            String subject,
            @Nullable String key,
            @Nullable String fingerprint,
            @JsonRawValue @Nullable String headers,
            @Nullable String body) {

        static MemberRow of(int m, Member member) {
            return new MemberRow(
                    m,
                    member.rows().size(),
                    member.username(),
                    member.subject(),
                    member.keyed().map(KeyedAnswer::key).orElse(null),
                    member.keyed().map(KeyedAnswer::fingerprint).orElse(null),
                    member.keyed().map(KeyedAnswer::headers).orElse(null),
                    member.keyed().map(KeyedAnswer::body).orElse(null));
        }
    }

    /**
     * Stores the members in one transaction and one round trip. No two members may have the same key of one caller. The
     * outcomes are in the order of the members; the rows are stored in that order.
     *
     * <p>A failure with an SQLSTATE means that nothing was stored. After any other failure, all may have been stored.
     */
    Future<List<Outcome>> submit(TenantId tenant, List<Member> members) {
        List<MemberRow> memberRows = new ArrayList<>(members.size());
        for (int m = 0; m < members.size(); m++) {
            memberRows.add(MemberRow.of(m, members.get(m)));
        }
        return transactions
                .call(tenant, SUBMIT, write(memberRows), rows(members))
                .map(rows -> {
                    Outcome[] outcomes = new Outcome[members.size()];
                    for (Row row : rows) {
                        outcomes[row.getInteger(0)] = outcome(row.getString(1));
                    }
                    return List.of(outcomes);
                });
    }

    /** Stores one submission in the transaction of this session, which also stores the answer of its key. */
    Uni<Outcome> submit(Mutiny.Session session, TenantId tenant, Member member) {
        Member alone = new Member(member.username(), member.subject(), Optional.empty(), member.rows());
        return session.createNativeQuery(SUBMIT_IN_SESSION, String.class)
                .setParameter("tenant", tenant.value())
                .setParameter("members", write(List.of(MemberRow.of(0, alone))))
                .setParameter("rows", rows(List.of(alone)))
                .getSingleResult()
                .map(SubmissionStore::outcome);
    }

    private String rows(List<Member> members) {
        List<NumberedRow> numbered = new ArrayList<>();
        for (int m = 0; m < members.size(); m++) {
            List<SubmittedRow> rows = members.get(m).rows();
            for (int n = 0; n < rows.size(); n++) {
                numbered.add(new NumberedRow(m, n, rows.get(n)));
            }
        }
        return write(numbered);
    }

    private static Outcome outcome(String word) {
        return Outcome.valueOf(word.toUpperCase(Locale.ROOT));
    }

    private String write(Object value) {
        try {
            return json.writeValueAsString(value);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("could not write a submission as JSON", e);
        }
    }
}
