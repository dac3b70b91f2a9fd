package io.quartermaster.workloads;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.access.Caller;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.writes.WriteParams;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Submits a stored workload again, with some of its fields changed. The clone passes every check of a submission, and
 * belongs to the caller.
 */
@ApplicationScoped
class WorkloadCloner {

    private static final String ENVIRONMENT = "environment";
    private static final String NO_OVERRIDES = "{}";
    private static final String ENVIRONMENT_ACCEPTED = "the variables of the clone, or {} for none";

    private final TenantTransactions transactions;
    private final WorkloadService workloads;
    private final WorkloadStore store;
    private final SubmissionService submissions;
    private final ObjectMapper json;

    WorkloadCloner(
            TenantTransactions transactions,
            WorkloadService workloads,
            WorkloadStore store,
            SubmissionService submissions,
            ObjectMapper json) {
        this.transactions = transactions;
        this.workloads = workloads;
        this.store = store;
        this.submissions = submissions;
        this.json = json;
    }

    /** @param body the fields that differ, as a merge patch of the submission; null or blank: none */
    Uni<Response> clone(TenantId tenant, Caller caller, UUID id, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch overrides = MergePatch.read(
                json, body == null || body.isBlank() ? NO_OVERRIDES : body, WorkloadApi.Overrides.class);
        return transactions
                .in(tenant, session -> WorkloadService.required(store.source(session, tenant, id))
                        .chain(source -> workloads
                                .seesEnvironment(session, tenant, caller, source.view())
                                .map(seen -> origin(source, seen, overrides))))
                .chain(origin -> submissions.submitOne(
                        tenant,
                        caller,
                        overrides.applyTo(json.convertValue(origin.spec(), Submission.class), Submission.class, json),
                        overrides.patch(),
                        origin.refusal(),
                        params,
                        uri));
    }

    /**
     * The submission without the overrides.
     *
     * @param refusal why it cannot be cloned with these overrides; a repeated key is answered nevertheless
     */
    private record Origin(ObjectNode spec, Optional<ProblemException> refusal) {}

    /**
     * An environment that the caller may not see, or that is deleted by now, is left out; then the overrides must state
     * one, because the clone would run without it unnoticed.
     */
    private static Origin origin(WorkloadStore.Source source, boolean seen, MergePatch overrides) {
        ObjectNode spec = source.spec();
        boolean hidden = !seen && !spec.path(ENVIRONMENT).isEmpty();
        if (hidden) {
            spec.remove(ENVIRONMENT);
        }
        if (overrides.patch().has(ENVIRONMENT)) {
            return new Origin(spec, Optional.empty());
        }
        if (source.environmentRemoved()) {
            return new Origin(
                    spec,
                    Optional.of(refused(
                            "environment-removed",
                            "the environment of the workload is not stored any more: it was deleted some time after"
                                    + " the end, or may have been; state the environment of the clone")));
        }
        return new Origin(
                spec,
                hidden
                        ? Optional.of(refused(
                                "environment-hidden",
                                "only the submitter and those who may manage the workload see its environment; state"
                                        + " the environment of the clone"))
                        : Optional.empty());
    }

    private static ProblemException refused(String code, String message) {
        return new ProblemException(
                Problem.of(422, code, message, List.of(new Problem.Field(ENVIRONMENT, message, ENVIRONMENT_ACCEPTED))));
    }
}
