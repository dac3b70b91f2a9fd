package io.quartermaster.governance.rules;

import static io.quartermaster.governance.RulesFixture.H100;
import static io.quartermaster.governance.RulesFixture.H100_ID;
import static io.quartermaster.governance.RulesFixture.acme;
import static io.quartermaster.governance.RulesFixture.policy;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.CapacityReservation;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.RulesFixture;
import io.quartermaster.platform.Ids;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class CalendarFitTest {

    private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");
    private static final Instant LATER = NOW.plus(Duration.ofDays(1));

    /** The tenant has ten in h100; two groups reserve four each. */
    private static TenantRules rules(QuotaTerms rnd) {
        return acme().with(policy("/rnd", new PolicyQuota(Scope.of(H100), rnd)))
                .with(policy("/ops", RulesFixture.quota(H100, 4)));
    }

    private static QuotaTerms overridden(long gpus, Instant from, Instant until) {
        return QuotaTerms.reserving(4_000)
                .withOverride(new Quota.Override(
                        OptionalLong.of(gpus * 1000),
                        OptionalLong.empty(),
                        OptionalLong.of(from.toEpochMilli()),
                        until.toEpochMilli()));
    }

    private static List<String> objections(TenantRules after, CapacityReservation... windows) {
        return CalendarFit.objections(
                        new CalendarFit.State(rules(QuotaTerms.reserving(4_000)), List.of(windows)),
                        new CalendarFit.State(after, List.of(windows)),
                        NOW)
                .stream()
                .map(CalendarFit.Objection::text)
                .toList();
    }

    private static CapacityReservation window(long gpus, Instant from, Instant until) {
        return new CapacityReservation(Ids.next(), H100_ID, Optional.empty(), gpus * 1000, true, from, until);
    }

    @Test
    void anOverrideThatFitsWhatIsAboveItIsNoObjection() {
        assertThat(objections(rules(overridden(6, LATER, LATER.plusSeconds(60)))))
                .isEmpty();
    }

    @Test
    void anOverrideThatReservesMoreThanIsLeftIsAnObjectionWithItsMoment() {
        assertThat(objections(rules(overridden(7, LATER, LATER.plusSeconds(60)))))
                .singleElement()
                .asString()
                .contains("would reserve 11 of 10 GPUs at " + LATER);
    }

    @Test
    void anOverrideMayRestOnAWindowThatIsOpenAllTheTime() {
        CapacityReservation window = window(1, LATER, LATER.plusSeconds(60));

        assertThat(objections(rules(overridden(7, LATER, LATER.plusSeconds(60))), window))
                .isEmpty();
        assertThat(objections(rules(overridden(7, LATER, LATER.plusSeconds(61))), window))
                .singleElement()
                .asString()
                .contains("at " + LATER.plusSeconds(60));
    }

    @Test
    void anAllotmentThatIsCutForATimeIsComparedWithWhatGroupsReserveThen() {
        TenantRules before = rules(QuotaTerms.reserving(4_000));
        QuotaTerms less = QuotaTerms.reserving(10_000)
                .withOverride(new Quota.Override(
                        OptionalLong.of(7_000), OptionalLong.empty(), OptionalLong.empty(), LATER.toEpochMilli()));
        TenantRules after = before.withAllotments(before.allotments().stream()
                .map(one -> one.poolId().equals(H100_ID)
                        ? new TenantAllotments.NamedAllotment(
                                one.poolName(),
                                one.poolId(),
                                one.topologyLevels(),
                                one.maxGrace(),
                                new Allotment(before.tenant(), H100, less),
                                1)
                        : one)
                .toList());

        assertThat(CalendarFit.objections(
                        new CalendarFit.State(before, List.of()), new CalendarFit.State(after, List.of()), NOW))
                .singleElement()
                .extracting(CalendarFit.Objection::text)
                .asString()
                .contains("would reserve 8 of 7 GPUs at " + NOW);
    }

    @Test
    void overAllPoolsTheTenantReservesAtEachMomentWhatItReservesInThemTogether() {
        TenantRules rules = rules(overridden(6, LATER, LATER.plusSeconds(60)))
                .with(policy("/all", new PolicyQuota(Scope.ALL_POOLS, QuotaTerms.reserving(0))));
        Quota rnd = rules.tree()
                .quotaAt(
                        QuotaTreeBuilder.path(
                                rules.tenant(), rules.policies().getFirst().group()),
                        Scope.ALL_POOLS)
                .orElseThrow();

        assertThat(rnd.reservedGpuMilli()).isEqualTo(4_000);
        assertThat(rnd.at(LATER.toEpochMilli()).reservedGpuMilli()).isEqualTo(6_000);
        assertThat(rnd.at(LATER.plusSeconds(60).toEpochMilli()).reservedGpuMilli())
                .isEqualTo(4_000);
    }
}
