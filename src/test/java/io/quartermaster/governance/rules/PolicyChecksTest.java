package io.quartermaster.governance.rules;

import static io.quartermaster.governance.RulesFixture.CLOUD;
import static io.quartermaster.governance.RulesFixture.H100;
import static io.quartermaster.governance.RulesFixture.acme;
import static io.quartermaster.governance.RulesFixture.policy;
import static io.quartermaster.governance.RulesFixture.profile;
import static io.quartermaster.governance.RulesFixture.queue;
import static io.quartermaster.governance.RulesFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.capacity.grants.AllotmentGuard;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.governance.PolicyAllotmentGuard;
import io.quartermaster.governance.RulesFixture;
import io.quartermaster.platform.http.Problem;
import io.quartermaster.platform.http.ProblemException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class PolicyChecksTest {

    @Test
    void reservationsThatFillTheAllotmentExactlyFit() {
        TenantRules before = acme().with(policy("/rnd", quota(H100, 5, 9)));

        assertThat(errors(before, policy("/devops", quota(H100, 5, 9)))).isEmpty();
    }

    @Test
    void aReservationBeyondTheAllotmentIsToldWhatWouldFit() {
        TenantRules before = acme().with(policy("/rnd", quota(H100, 6)));

        assertThat(errors(before, policy("/devops", quota(CLOUD, 1), quota(H100, 5))))
                .singleElement()
                .satisfies(error -> {
                    assertThat(error.field()).isEqualTo("quotas[1].reserved");
                    assertThat(error.message())
                            .isEqualTo(
                                    "does not fit: in h100 the tenant has 10 reserved, of which other groups have 6");
                    assertThat(error.accepted()).isEqualTo("at most 4");
                });
    }

    @Test
    void aSubgroupIsMeasuredAgainstItsNearestGroupAbove() {
        TenantRules before = acme().with(policy("/rnd", quota(H100, 3)));

        assertThat(errors(before, policy("/rnd/nlp/llm", quota(H100, 4))))
                .singleElement()
                .satisfies(error -> {
                    assertThat(error.field()).isEqualTo("quotas[0].reserved");
                    assertThat(error.message()).contains("group /rnd has 3 reserved");
                    assertThat(error.accepted()).isEqualTo("at most 3");
                });
    }

    @Test
    void aPolicyCannotBeCutBelowWhatItsSubgroupsReserve() {
        Policy rnd = policy("/rnd", quota(H100, 6));
        TenantRules before =
                acme().with(rnd).with(policy("/rnd/a", quota(H100, 2))).with(policy("/rnd/b", quota(H100, 3)));
        Policy cut = new Policy(
                rnd.id(),
                rnd.name(),
                rnd.group(),
                List.of(quota(H100, 4)),
                true,
                PreemptionAction.REQUEUE,
                0,
                rnd.userLimitGpuMilli(),
                1);

        assertThat(errors(before, cut)).singleElement().satisfies(error -> {
            assertThat(error.field()).isEqualTo("quotas[0].reserved");
            assertThat(error.message()).endsWith("/rnd/a 2, /rnd/b 3");
            assertThat(error.accepted()).isEqualTo("at least 5");
        });
    }

    @Test
    void aUserLimitBelowAProfileIsToldByItsOwnName() {
        Policy rnd = policy("/rnd", quota(H100, 6, 9));
        Policy limited = new Policy(
                rnd.id(),
                rnd.name(),
                rnd.group(),
                rnd.quotas(),
                true,
                PreemptionAction.REQUEUE,
                0,
                OptionalLong.of(1_000),
                1);

        assertThat(errors(acme(), limited, profile("two", 2, H100), profile("four", 4, H100), profile("one", 1, H100)))
                .singleElement()
                .satisfies(error -> {
                    assertThat(error.field()).isEqualTo("userLimit");
                    assertThat(error.message()).contains("profile four").contains("one user may hold 1");
                    assertThat(error.accepted()).startsWith("at least 4");
                });
    }

    @Test
    void aPolicyPutBetweenTakesItsSubgroupsUnderItself() {
        TenantRules before = acme().with(policy("/rnd/a", quota(H100, 6)));

        assertThat(errors(before, policy("/rnd", quota(H100, 6)))).isEmpty();
        assertThat(errors(before, policy("/rnd", quota(H100, 5)))).hasSize(1);
    }

    @Test
    void aGroupAdminPassesOnNoMoreThanThePolicyAboveGives() {
        SubmissionRights some = new SubmissionRights(OptionalInt.of(100), true);
        TenantRules given = acme().with(withRights("/rnd", some));
        TenantRules byDefault = acme().with(policy("/rnd"));

        assertThat(refusedRights(given, some)).isEmpty();
        assertThat(refusedRights(given, new SubmissionRights(OptionalInt.of(7), false)))
                .isEmpty();
        assertThat(refusedRights(given, new SubmissionRights(OptionalInt.of(101), true)))
                .containsExactly("maxPriority");
        // Without a limit of its own, inference would have 125.
        assertThat(refusedRights(given, SubmissionRights.DEFAULT)).containsExactly("maxPriority");
        assertThat(refusedRights(byDefault, SubmissionRights.DEFAULT)).isEmpty();
        assertThat(refusedRights(byDefault, new SubmissionRights(OptionalInt.of(50), false)))
                .isEmpty();
        assertThat(refusedRights(byDefault, new SubmissionRights(OptionalInt.of(51), true)))
                .containsExactly("maxPriority", "nonPreemptible");
        assertThat(refusedRights(acme(), new SubmissionRights(OptionalInt.empty(), true)))
                .containsExactly("nonPreemptible");
    }

    @Test
    void aGroupAdminTakesRightsToNoOtherGroup() {
        SubmissionRights granted = new SubmissionRights(OptionalInt.of(1000), true);
        TenantRules rules =
                acme().with(policy("/rnd")).with(withRights("/ops", new SubmissionRights(OptionalInt.of(1000), false)));
        Optional<Policy> old = Optional.of(withRights("/rnd/nlp", granted));

        assertThat(refusedRights(rules, old, withRights("/rnd/nlp", granted))).isEmpty();
        assertThat(refusedRights(rules, old, withRights("/rnd/vision", granted)))
                .containsExactly("maxPriority", "nonPreemptible");
        assertThat(refusedRights(rules, old, withRights("/ops/nlp", granted))).containsExactly("nonPreemptible");
        assertThat(refusedRights(rules, old, withRights("/rnd/vision", SubmissionRights.DEFAULT)))
                .isEmpty();
    }

    @Test
    void aGroupAdminGivesNoLongerGraceThanThePolicyAbove() {
        TenantRules rules = acme().with(withGrace("/rnd", 20_000));

        assertThat(refusedRights(rules, Optional.empty(), withGrace("/rnd/nlp", 20_000)))
                .isEmpty();
        assertThat(refusedRights(rules, Optional.empty(), withGrace("/rnd/nlp", 20_001)))
                .containsExactly("grace");
        assertThat(refusedRights(acme(), Optional.empty(), withGrace("/rnd/nlp", Policy.DEFAULT_GRACE_MILLIS + 1)))
                .containsExactly("grace");

        Optional<Policy> old = Optional.of(withGrace("/rnd/nlp", 60_000));
        assertThat(refusedRights(rules, old, withGrace("/rnd/nlp", 60_000)))
                .as("what an admin gave stays")
                .isEmpty();
        assertThat(refusedRights(rules, old, withGrace("/rnd/vision", 60_000))).containsExactly("grace");
    }

    private static Policy withGrace(String group, long graceMillis) {
        Policy plain = policy(group);
        return new Policy(
                plain.id(),
                plain.name(),
                plain.group(),
                plain.quotas(),
                plain.overQuota(),
                plain.onPreemption(),
                graceMillis,
                plain.userLimitGpuMilli(),
                plain.maxRunning(),
                plain.rights(),
                plain.groupGoneSince(),
                plain.version());
    }

    private static List<String> refusedRights(TenantRules rules, SubmissionRights asked) {
        return refusedRights(rules, Optional.empty(), withRights("/rnd/nlp", asked));
    }

    private static List<String> refusedRights(TenantRules rules, Optional<Policy> old, Policy policy) {
        var problems = new ProblemException.Invalid();
        PolicyChecks.checkRights(rules, old, policy, problems);
        return problems.isEmpty()
                ? List.of()
                : problems.toException().problem().errors().stream()
                        .map(Problem.Field::field)
                        .toList();
    }

    private static Policy withRights(String group, SubmissionRights rights) {
        Policy plain = policy(group);
        return new Policy(
                plain.id(),
                plain.name(),
                plain.group(),
                plain.quotas(),
                plain.overQuota(),
                plain.onPreemption(),
                plain.graceMillis(),
                plain.userLimitGpuMilli(),
                plain.maxRunning(),
                rights,
                plain.groupGoneSince(),
                plain.version());
    }

    @Test
    void aGroupHasOnePolicy() {
        TenantRules before = acme().with(policy("/rnd", quota(H100, 1)));

        assertThat(errors(before, policy("/rnd", quota(H100, 1))))
                .extracting(Problem.Field::field)
                .containsExactly("group");
    }

    @Test
    void aProfileThatCouldNeverRunIsToldWhy() {
        Policy rnd = policy("/rnd", quota(H100, 2, 3));

        assertThat(errors(acme(), rnd, profile("4xgpu", 4, CLOUD, H100)))
                .singleElement()
                .satisfies(error -> {
                    assertThat(error.field()).isEqualTo("profiles[0]");
                    assertThat(error.message())
                            .isEqualTo("profile 4xgpu could never run: it starts with 4 GPUs, and there is no quota "
                                    + "in cloud, at most 3 in h100");
                });
    }

    @Test
    void oneOfAProfilesPoolsIsEnough() {
        Policy rnd = policy("/rnd", quota(H100, 2, 4));

        assertThat(errors(acme(), rnd, profile("4xgpu", 4, CLOUD, H100))).isEmpty();
    }

    @Test
    void aGangNeedsOnlyRoomForTheWorkersItStartsWith() {
        Policy rnd = policy("/rnd", quota(H100, 2, 4));
        Profile elastic = new Profile(
                UUID.randomUUID(),
                "gang",
                GpuRequest.whole(2),
                OptionalInt.empty(),
                OptionalInt.empty(),
                8,
                2,
                0,
                0,
                new TreeMap<>(),
                Profile.Topology.ANY,
                List.of(H100),
                false,
                OptionalLong.empty(),
                0);

        assertThat(errors(acme(), rnd, elastic)).isEmpty();
    }

    @Test
    void whatDoesNotFitIsToldAllAtOnce() {
        TenantRules before = acme().with(policy("/ops", quota(H100, 10), quota(CLOUD, 4)));
        Policy rnd = policy("/rnd", quota(H100, 1, 2), quota(CLOUD, 1, 2));

        assertThat(errors(before, rnd, profile("8xgpu", 8, H100), profile("1xgpu", 1, H100)))
                .extracting(Problem.Field::field)
                .containsExactlyInAnyOrder("quotas[0].reserved", "quotas[1].reserved", "profiles[0]");
    }

    @Test
    void anAllotmentCannotBeCutBelowWhatPoliciesReserveOrTakenWhileTheyNameIt() {
        Profile burst = profile("burst", 1, CLOUD);
        TenantRules rules = acme().with(policy("/rnd", quota(H100, 5)))
                .with(policy("/ops", quota(H100, 4)))
                .with(burst);

        assertThat(PolicyAllotmentGuard.objections(
                        rules, List.of(RulesFixture.granted("h100", RulesFixture.H100_ID, 9))))
                .extracting(AllotmentGuard.Objection::text)
                .containsExactly("profile burst uses pool cloud");
        assertThat(PolicyAllotmentGuard.objections(
                        rules,
                        List.of(rules.allotments().getFirst(), RulesFixture.granted("h100", RulesFixture.H100_ID, 8))))
                .extracting(AllotmentGuard.Objection::text)
                .containsExactly(
                        "in h100 policies reserve 9 GPUs, but the allotment would reserve only 8: /ops 4, /rnd 5");
        assertThat(PolicyAllotmentGuard.objections(
                        rules, List.of(rules.allotments().getFirst())))
                .extracting(AllotmentGuard.Objection::text)
                .containsExactly("policy rnd has a quota in pool h100", "policy ops has a quota in pool h100");
    }

    private static List<Problem.Field> errors(TenantRules before, Policy policy, Profile... profiles) {
        TenantRules after = before.with(policy);
        for (Profile profile : profiles) {
            after = after.with(profile).with(queue(policy, profile));
        }
        var problems = new ProblemException.Invalid();
        PolicyChecks.check(before, after, policy, Arrays.asList(profiles), problems, problems);
        return problems.isEmpty() ? List.of() : problems.toException().problem().errors();
    }
}
