package io.quartermaster.governance.queues;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quartermaster.access.AccessRule;
import io.quartermaster.access.Caller;
import io.quartermaster.access.GroupPath;
import io.quartermaster.access.Permission;
import io.quartermaster.access.QueueAccessRules;
import io.quartermaster.access.audit.AuditLog;
import io.quartermaster.governance.ListPager;
import io.quartermaster.governance.QueueRules;
import io.quartermaster.governance.RuleChanges;
import io.quartermaster.governance.RulesStore;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyChecks;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.governance.rules.WaitingWorkPolicy;
import io.quartermaster.platform.EnumNames;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.db.TenantTransactions;
import io.quartermaster.platform.http.MergePatch;
import io.quartermaster.platform.http.Page;
import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.PrintableText;
import io.quartermaster.platform.http.ProblemException;
import io.quartermaster.platform.inbox.Inbox;
import io.quartermaster.platform.writes.TenantWrites;
import io.quartermaster.platform.writes.WriteParams;
import io.quartermaster.platform.writes.WriteReply;
import io.quartermaster.tenancy.groups.TenantSubjects;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiFunction;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The queues that policies create or that an admin adds under a name of its own, and their access rules. */
@ApplicationScoped
class QueueService {

    private static final Pattern NAME = Pattern.compile("[a-z0-9][a-z0-9-]{0,126}");
    private static final int MAX_SUBJECT = 255;
    private static final int MAX_RULES = 100;

    private final TenantTransactions transactions;
    private final RulesStore store;
    private final RuleChanges ruleChanges;
    private static final Duration REALM_TIMEOUT = Duration.ofSeconds(2);

    private final AuditLog audit;
    private final TenantSubjects subjects;
    private final ObjectMapper json;

    QueueService(
            TenantTransactions transactions,
            RulesStore store,
            RuleChanges writes,
            AuditLog audit,
            TenantSubjects subjects,
            ObjectMapper json) {
        this.json = json;
        this.transactions = transactions;
        this.store = store;
        this.ruleChanges = writes;
        this.audit = audit;
        this.subjects = subjects;
    }

    /**
     * The filters of a list of queues.
     *
     * @param policy a name; null does not filter
     * @param profile a name; null does not filter
     * @param mine whether only queues to which the caller may submit are listed
     */
    record Filter(@Nullable String policy, @Nullable String profile, boolean mine) {

        /** @throws ProblemException if {@code mine} is neither true nor false */
        static Filter parse(@Nullable String policy, @Nullable String profile, @Nullable String mine) {
            new ProblemException.Invalid()
                    .check(
                            mine == null || mine.equals("true") || mine.equals("false"),
                            "mine",
                            "\"" + mine + "\" is neither",
                            "true or false")
                    .throwIfAny();
            return new Filter(policy, profile, "true".equals(mine));
        }

        boolean matches(QueueApi.View view) {
            return (policy == null || view.policy().equals(policy))
                    && (profile == null || view.profile().equals(profile))
                    && (!mine || Boolean.TRUE.equals(view.maySubmit()));
        }
    }

    Uni<Page<QueueApi.View>> list(TenantId tenant, Caller caller, Filter filter, PageRequest page) {
        return read(tenant, (rules, access) -> {
            List<QueueApi.View> views = rules.queues().stream()
                    .map(queue -> view(rules, access, queue, caller))
                    .filter(filter::matches)
                    .toList();
            return ListPager.of(views, QueueApi.View::name, tenant + " queues " + filter, page);
        });
    }

    Uni<Response> get(TenantId tenant, Caller caller, String name) {
        return read(tenant, (rules, access) -> {
            Queue queue = rules.queue(name).orElseThrow(ProblemException::notFound);
            return TenantWrites.response(WriteReply.ok(view(rules, access, queue, caller), queue.version()));
        });
    }

    private <T> Uni<T> read(TenantId tenant, BiFunction<TenantRules, Map<UUID, QueueAccessRules>, T> answer) {
        return transactions.in(tenant, session -> store.read(session, tenant)
                .chain(rules -> QueueRules.byQueue(session, tenant).map(access -> answer.apply(rules, access))));
    }

    private static QueueApi.View view(
            TenantRules rules, Map<UUID, QueueAccessRules> access, Queue queue, Caller caller) {
        QueueAccessRules own = access.getOrDefault(queue.id(), QueueAccessRules.NONE);
        return QueueApi.View.of(rules, queue, null).forCaller(own.maySubmit(caller));
    }

    /** Adds a profile to a policy under a queue name that the admin chooses. */
    Uni<Response> create(TenantId tenant, QueueApi.@Nullable Request body, WriteParams params, UriInfo uri) {
        QueueApi.Request request = RuleChanges.required(body);
        return ruleChanges.run(tenant, uri, params, request, work -> {
            Optional.ofNullable(request.policy())
                    .flatMap(work.before()::policy)
                    .ifPresent(policy -> requireMayWrite(work.caller(), Permission.QUEUES_WRITE, policy.group()));
            Queue asked = read(work.before(), request);
            Optional<Queue> there = work.before().queue(asked.name());
            if (there.isPresent()) {
                if (!isSame(there.get(), asked)) {
                    throw ProblemException.conflict(
                            "already-exists", "there is a queue named " + asked.name() + " with other content");
                }
                return Uni.createFrom()
                        .item(WriteReply.ok(
                                QueueApi.View.of(work.before(), there.get(), null),
                                there.get().version()));
            }
            TenantRules after = work.before().with(asked);
            return ruleChanges
                    .apply(
                            work,
                            after,
                            new WaitingWorkPolicy.Refuse(),
                            change("create", work, Optional.empty(), after, asked))
                    .map(changeImpact -> WriteReply.created(
                            "/v1/tenants/" + tenant + "/queues/" + asked.name(),
                            QueueApi.View.of(after, asked, changeImpact),
                            asked.version()));
        });
    }

    private static Queue read(TenantRules rules, QueueApi.Request request) {
        var problems = new ProblemException.Invalid();
        Optional<Policy> policy = Optional.ofNullable(request.policy()).flatMap(rules::policy);
        Optional<Profile> profile = Optional.ofNullable(request.profile()).flatMap(rules::profile);
        problems.check(policy.isPresent(), "policy", "there is no such policy", "the name of a policy")
                .check(profile.isPresent(), "profile", "there is no such profile", "the name of a profile");
        QueueApi.Patch requestedTerms =
                new QueueApi.Patch(request.overQuota(), request.maxWaiting(), request.state(), request.order());
        Queue.Terms terms = terms(problems, requestedTerms);
        if (policy.isEmpty() || profile.isEmpty()) {
            throw problems.toException();
        }
        String name = request.name() == null
                ? Queue.nameOf(policy.get().name(), profile.get().name())
                : request.name();
        problems.check(
                NAME.matcher(name).matches(),
                "name",
                "\"" + name + "\" is not a valid name",
                "1 to 127 lower-case letters, digits and dashes; the first is not a dash");
        rules.queuesOf(policy.get()).stream()
                .filter(queue -> queue.profile().equals(profile.get().id()))
                .filter(queue -> !queue.name().equals(name))
                .forEach(queue -> problems.add(
                        "profile",
                        "the policy already has a queue with this profile: " + queue.name(),
                        "another profile"));
        PolicyChecks.objection(rules, rules.tree(), policy.get(), profile.get())
                .ifPresent(objection -> problems.add(
                        "profile", "could never run: " + objection, "a profile that fits the policy's limits"));
        problems.throwIfAny();
        return Queue.of(name, policy.get(), profile.get(), terms);
    }

    Uni<Response> update(TenantId tenant, String name, @Nullable String body, WriteParams params, UriInfo uri)
            throws JsonProcessingException {
        MergePatch patch = MergePatch.read(json, body, QueueApi.Patch.class);
        return ruleChanges.run(tenant, uri, params, patch.patch(), work -> {
            Queue old = requireQueue(work, name, Permission.QUEUES_WRITE);
            params.requireVersion(old.version());
            var problems = new ProblemException.Invalid();
            QueueApi.Patch wanted = patch.applyTo(QueueApi.Patch.of(old.terms()), QueueApi.Patch.class, json);
            Queue asked = old.with(terms(problems, wanted));
            problems.throwIfAny();
            if (asked.terms().equals(old.terms())) {
                return Uni.createFrom().item(WriteReply.ok(QueueApi.View.of(work.before(), old, null), old.version()));
            }
            TenantRules after = work.before().with(asked);
            return ruleChanges
                    .apply(
                            work,
                            after,
                            new WaitingWorkPolicy.Refuse(),
                            change("update", work, Optional.of(old), after, asked))
                    .map(changeImpact -> WriteReply.ok(QueueApi.View.of(after, asked, changeImpact), asked.version()));
        });
    }

    /**
     * The order of waiting work is not part of the queue's row. So the version is compared where the caller gives one,
     * and stays unchanged.
     */
    Uni<Response> order(
            TenantId tenant, String name, QueueApi.@Nullable Ordering body, WriteParams params, UriInfo uri) {
        QueueApi.Ordering asked = RuleChanges.required(body);
        List<UUID> first = WaitingOrder.validate(asked.workloads());
        return ruleChanges.run(tenant, uri, params, asked, work -> {
            Queue queue = requireQueue(work, name, Permission.QUEUES_WRITE);
            if (params.givenVersion().isPresent()) {
                params.requireVersion(queue.version());
            }
            QueueApi.Ordering now = new QueueApi.Ordering(List.copyOf(first));
            return WaitingOrder.readOrdered(work.session(), tenant, queue.id())
                    .call(() -> WaitingOrder.set(work.session(), tenant, queue.id(), first))
                    .call(before -> audit.record(
                            work.session(),
                            tenant,
                            work.caller(),
                            new AuditLog.Change(
                                    "queues:order", "queues/" + name, new QueueApi.Ordering(List.copyOf(before)), now)))
                    .map(before -> WriteReply.ok(now));
        });
    }

    Uni<Response> retire(TenantId tenant, String name, WriteParams params, UriInfo uri, WaitingWorkPolicy how) {
        return ruleChanges.run(tenant, uri, params, null, work -> {
            Queue old = requireQueue(work, name, Permission.QUEUES_WRITE);
            if (params.givenVersion().isPresent()) {
                params.requireVersion(old.version());
            }
            AuditLog.Change change = new AuditLog.Change(
                    "queues:retire", "queues/" + name, QueueApi.View.of(work.before(), old, null), null);
            return ruleChanges
                    .apply(work, work.before().without(old), how, change)
                    .map(WriteReply::ok);
        });
    }

    Uni<Page<QueueApi.RuleView>> rules(TenantId tenant, String name, Caller caller) {
        return transactions.in(tenant, session -> store.read(session, tenant).chain(rules -> {
            Queue queue = rules.queue(name).orElseThrow(ProblemException::notFound);
            requireMayWrite(caller, Permission.ACCESS_RULES_READ, group(rules, queue));
            return QueueRules.list(session, tenant, queue.id())
                    .map(stored -> new Page<>(
                            stored.stream().map(QueueApi.RuleView::of).toList(), null));
        }));
    }

    Uni<Response> addRule(
            TenantId tenant, String name, QueueApi.@Nullable RuleRequest body, WriteParams params, UriInfo uri) {
        QueueApi.RuleRequest request = RuleChanges.required(body);
        AccessRule rule = rule(request);
        return warnings(tenant, rule)
                .chain(warnings -> ruleChanges.run(tenant, uri, params, request, work -> {
                    Queue queue = requireQueue(work, name, Permission.ACCESS_RULES_WRITE);
                    return QueueRules.list(work.session(), tenant, queue.id()).chain(stored -> {
                        Optional<QueueRules.StoredRule> there = stored.stream()
                                .filter(one -> one.rule().equals(rule))
                                .findFirst();
                        if (there.isPresent()) {
                            return Uni.createFrom()
                                    .item(WriteReply.ok(
                                            QueueApi.RuleView.of(there.get()).with(warnings)));
                        }
                        if (stored.size() >= MAX_RULES) {
                            throw ProblemException.conflict(
                                    "too-many", "a queue has at most " + MAX_RULES + " access rules");
                        }
                        return insert(work, queue, new QueueRules.StoredRule(Ids.next(), rule), warnings);
                    });
                }));
    }

    /**
     * Asks the realm before the transaction, so that no lock is held while Keycloak answers. It gives no warning when
     * Keycloak does not answer soon.
     */
    private Uni<List<String>> warnings(TenantId tenant, AccessRule rule) {
        return subjects.isMissing(tenant, rule, REALM_TIMEOUT)
                .onFailure()
                .recoverWithItem(false)
                .map(lacks -> lacks
                        ? List.of(
                                "the realm has no " + EnumNames.of(rule.kind()).replace('-', ' ') + " " + rule.subject()
                                        + "; the rule admits no caller until the realm has one")
                        : List.of());
    }

    Uni<QueueApi.RuleView> rule(TenantId tenant, String name, UUID id, Caller caller) {
        return rules(tenant, name, caller).map(page -> page.items().stream()
                .filter(rule -> rule.id().equals(id))
                .findFirst()
                .orElseThrow(ProblemException::notFound));
    }

    private Uni<WriteReply> insert(
            RuleChanges.ChangeContext work, Queue queue, QueueRules.StoredRule made, List<String> warnings) {
        QueueApi.RuleView view = QueueApi.RuleView.of(made);
        String resource = "queues/" + queue.name() + "/access-rules/" + made.id();
        return QueueRules.insert(work.session(), work.tenant(), queue.id(), made.id(), made.rule())
                .chain(() -> audit.record(
                        work.session(),
                        work.tenant(),
                        work.caller(),
                        new AuditLog.Change("access-rules:create", resource, null, view)))
                .chain(() -> Inbox.post(
                        work.session(),
                        work.tenant(),
                        Inbox.Kind.QUEUE,
                        queue.id().toString()))
                .map(done -> WriteReply.created("/v1/tenants/" + work.tenant() + "/" + resource, view.with(warnings)));
    }

    Uni<Response> removeRule(TenantId tenant, String name, UUID id, WriteParams params, UriInfo uri) {
        return ruleChanges.run(tenant, uri, params, null, work -> {
            Queue queue = requireQueue(work, name, Permission.ACCESS_RULES_WRITE);
            return QueueRules.list(work.session(), tenant, queue.id()).chain(stored -> {
                QueueRules.StoredRule gone = stored.stream()
                        .filter(one -> one.id().equals(id))
                        .findFirst()
                        .orElseThrow(ProblemException::notFound);
                return remove(work, queue, gone);
            });
        });
    }

    private Uni<WriteReply> remove(RuleChanges.ChangeContext work, Queue queue, QueueRules.StoredRule gone) {
        return QueueRules.delete(work.session(), work.tenant(), queue.id(), gone.id())
                .chain(() -> audit.record(
                        work.session(),
                        work.tenant(),
                        work.caller(),
                        new AuditLog.Change(
                                "access-rules:delete",
                                "queues/" + queue.name() + "/access-rules/" + gone.id(),
                                QueueApi.RuleView.of(gone),
                                null)))
                .chain(() -> Inbox.post(
                        work.session(),
                        work.tenant(),
                        Inbox.Kind.QUEUE,
                        queue.id().toString()))
                .map(done -> WriteReply.noContent());
    }

    private static AccessRule rule(QueueApi.RuleRequest request) {
        var problems = new ProblemException.Invalid();
        AccessRule.Kind kind = request.subjectKind();
        problems.check(kind != null, "subjectKind", "is missing", EnumNames.accepted(AccessRule.Kind.class));
        String subject = request.subject() == null && kind == AccessRule.Kind.EVERYONE ? "*" : request.subject();
        checkSubject(problems, kind, subject);
        if (kind == null || subject == null || !problems.isEmpty()) {
            throw problems.toException();
        }
        return AccessRule.of(kind, subject);
    }

    private static void checkSubject(
            ProblemException.Invalid problems, AccessRule.@Nullable Kind kind, @Nullable String subject) {
        if (subject == null) {
            problems.add("subject", "is missing", "a group path such as /research/nlp, a user name, or a client id");
        } else if (kind == AccessRule.Kind.GROUP) {
            GroupPath.refusal(subject).ifPresent(why -> problems.add("subject", why, GroupPath.ACCEPTED));
        } else if (kind == AccessRule.Kind.EVERYONE) {
            problems.check(
                    subject.equals("*"),
                    "subject",
                    "\"" + subject
                            + "\" cannot be combined with subjectKind everyone, which admits every member "
                            + "of the tenant",
                    "no subject, or *; or another subjectKind: group, user, service-account");
        } else {
            problems.check(
                    !subject.isBlank() && subject.length() <= MAX_SUBJECT && PrintableText.isPrintable(subject),
                    "subject",
                    "\"" + subject + "\" is blank, longer than " + MAX_SUBJECT
                            + " characters, or contains characters that are not printable",
                    "a user name or a client id: 1 to " + MAX_SUBJECT + " printable characters");
        }
    }

    private static Queue requireQueue(RuleChanges.ChangeContext work, String name, Permission permission) {
        Queue queue = work.before().queue(name).orElseThrow(ProblemException::notFound);
        requireMayWrite(work.caller(), permission, group(work.before(), queue));
        return queue;
    }

    private static GroupPath group(TenantRules rules, Queue queue) {
        return rules.policyOf(queue).group();
    }

    private static void requireMayWrite(Caller caller, Permission permission, GroupPath group) {
        if (!caller.may(permission, group)) {
            throw ProblemException.forbidden("the permission " + permission
                    + " of a group admin covers queues of its own groups and of the groups below them, not of "
                    + group);
        }
    }

    /** A null field takes its default. */
    private static Queue.Terms terms(ProblemException.Invalid problems, QueueApi.Patch requested) {
        Queue.Terms defaults = Queue.Terms.DEFAULT;
        int max = requested.maxWaiting() == null ? defaults.maxWaiting() : requested.maxWaiting();
        problems.check(
                max >= 0 && max <= Queue.MAX_MAX_WAITING,
                "maxWaiting",
                "out of range",
                "0 to " + Queue.MAX_MAX_WAITING);
        return new Queue.Terms(
                requested.overQuota() == null ? defaults.overQuota() : requested.overQuota(),
                max,
                requested.state() == null ? defaults.state() : requested.state(),
                requested.order() == null ? defaults.order() : requested.order());
    }

    private static boolean isSame(Queue old, Queue asked) {
        return old.policy().equals(asked.policy())
                && old.profile().equals(asked.profile())
                && old.terms().equals(asked.terms());
    }

    private static AuditLog.Change change(
            String verb, RuleChanges.ChangeContext work, Optional<Queue> old, TenantRules after, Queue now) {
        return new AuditLog.Change(
                "queues:" + verb,
                "queues/" + now.name(),
                old.map(queue -> QueueApi.View.of(work.before(), queue, null)).orElse(null),
                QueueApi.View.of(after, now, null));
    }
}
