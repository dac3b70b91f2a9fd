package io.quartermaster.governance.queues;

import io.quartermaster.access.AccessRule;
import io.quartermaster.engine.model.QueueOrder;
import io.quartermaster.governance.ChangeImpact;
import io.quartermaster.governance.QueueRules;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.QueueState;
import io.quartermaster.governance.rules.TenantRules;
import java.util.List;
import java.util.UUID;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/** Requests and answers of the API for queues and their access rules. */
final class QueueApi {

    private static final String STATE =
            "held: the queue accepts submissions, but starts no work; draining: it accepts no submissions, "
                    + "but starts waiting work; running work continues in every state";

    private static final String ORDER =
            "skip-ahead: work that cannot start yet lets later work pass; strict-fifo: no workload starts before "
                    + "the first of the queue";

    private QueueApi() {}

    @Schema(name = "QueueRequest")
    record Request(
            @Schema(description = "absent: <policy>-<profile>") @Nullable
            String name,

            @Schema(required = true, description = "name of its policy") @Nullable
            String policy,

            @Schema(required = true, description = "name of its profile") @Nullable
            String profile,

            @Schema(description = "whether its work may run beyond what is reserved", defaultValue = "true") @Nullable
            Boolean overQuota,

            @Schema(description = "how many workloads may wait in it; absent: 10000") @Nullable
            Integer maxWaiting,

            @Schema(description = STATE + "; absent: open") @Nullable
            QueueState state,

            @Schema(description = ORDER + "; absent: skip-ahead") @Nullable
            QueueOrder order) {}

    @Schema(name = "QueuePatch", description = "An absent field stays unchanged; null returns a field to its default.")
    record Patch(
            @Schema(description = "Whether its work may run beyond what is reserved; null returns to true.") @Nullable
            Boolean overQuota,

            @Schema(description = "The most workloads that may wait in the queue; null returns to 10000.") @Nullable
            Integer maxWaiting,

            @Schema(description = STATE + "; null returns to open") @Nullable
            QueueState state,

            @Schema(description = ORDER + "; null returns to skip-ahead") @Nullable
            QueueOrder order) {

        static Patch of(Queue.Terms now) {
            return new Patch(now.overQuota(), now.maxWaiting(), now.state(), now.order());
        }
    }

    @Schema(name = "Queue")
    record View(
            UUID id,
            String name,
            String policy,
            String group,
            String profile,
            boolean overQuota,
            int maxWaiting,
            QueueState state,
            QueueOrder order,
            long version,

            @Schema(
                    description = "Whether an access rule of the queue and a role let you submit to it; in answers to "
                            + "reads.")
            @Nullable
            Boolean maySubmit,

            @Schema(description = "in answers to writes") @Nullable
            ChangeImpact effects) {

        View forCaller(boolean admitted) {
            return new View(
                    id, name, policy, group, profile, overQuota, maxWaiting, state, order, version, admitted, effects);
        }

        static View of(TenantRules rules, Queue queue, @Nullable ChangeImpact changeImpact) {
            Policy policy = rules.policyOf(queue);
            return new View(
                    queue.id(),
                    queue.name(),
                    policy.name(),
                    policy.group().value(),
                    rules.profileOf(queue).name(),
                    queue.terms().overQuota(),
                    queue.terms().maxWaiting(),
                    queue.terms().state(),
                    queue.terms().order(),
                    queue.version(),
                    null,
                    changeImpact);
        }
    }

    @Schema(
            name = "QueueOrdering",
            description = "The order of the waiting workloads of a queue, within each priority.")
    record Ordering(
            @Schema(
                    required = true,
                    description = "the workloads that go first, in this order; all others follow in order of "
                            + "submission; empty: all in order of submission",
                    maxItems = WaitingOrder.MAX_WORKLOADS)
            @Nullable
            List<@Nullable UUID> workloads) {}

    @Schema(name = "AccessRuleRequest")
    record RuleRequest(
            @Schema(required = true) AccessRule.@Nullable Kind subjectKind,

            @Schema(description = "a group path, a user name, or a client id; absent for everyone", examples = "/rnd")
            @Nullable
            String subject) {}

    @Schema(name = "AccessRule", description = "A group, a user, a service account or everyone that a queue admits.")
    record RuleView(
            UUID id,
            AccessRule.Kind subjectKind,
            String subject,

            @Schema(
                    description =
                            "in answers to writes: warnings that the rule may not have the effect that you expect")
            @Nullable
            List<String> warnings) {

        static RuleView of(QueueRules.StoredRule stored) {
            return new RuleView(stored.id(), stored.rule().kind(), stored.rule().subject(), null);
        }

        RuleView with(List<String> found) {
            return new RuleView(id, subjectKind, subject, found);
        }
    }
}
