package io.quartermaster.governance;

import static io.quartermaster.governance.RulesFixture.CLOUD;
import static io.quartermaster.governance.RulesFixture.H100;
import static io.quartermaster.governance.RulesFixture.acme;
import static io.quartermaster.governance.RulesFixture.policy;
import static io.quartermaster.governance.RulesFixture.profile;
import static io.quartermaster.governance.RulesFixture.queue;
import static io.quartermaster.governance.RulesFixture.quota;
import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.GpuAmount;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChangeImpactTest {

    private final Policy rnd = policy("/rnd", quota(H100, 6, 9));
    private final Profile three = profile("3xgpu", 3, H100);

    @Test
    void aNewPolicyShowsItsQueuesAndWhatIsGivenOutOfTheAllotment() {
        TenantRules before = acme().with(three);

        ChangeImpact changeImpact =
                ChangeImpact.between(before, before.with(rnd).with(queue(rnd, three)), List.of(), 0);

        assertThat(changeImpact.queuesMade()).containsExactly("rnd-3xgpu");
        assertThat(changeImpact.queuesRetired()).isEmpty();
        assertThat(changeImpact.reserved())
                .containsExactly(new ChangeImpact.Reserved(
                        "h100", "/", new GpuAmount(10_000), new GpuAmount(0), new GpuAmount(6000)));
        assertThat(changeImpact.warnings()).isEmpty();
    }

    @Test
    void aCutReservationTurnsTheLastStartedIntoOverQuota() {
        TenantRules before = acme().with(rnd);
        Policy cut = new Policy(
                rnd.id(),
                rnd.name(),
                rnd.group(),
                List.of(quota(H100, 3, 9)),
                true,
                PreemptionAction.REQUEUE,
                0,
                rnd.userLimitGpuMilli(),
                1);
        var held = List.of(holding(3), holding(3), holding(3));

        assertThat(ChangeImpact.countOverQuota(before, held)).isEqualTo(1);
        assertThat(ChangeImpact.between(before, before.with(cut), held, 0).becomingOverQuota())
                .isEqualTo(1);
    }

    @Test
    void aRetiredPolicyLeavesAllItsRunningWorkOverQuota() {
        TenantRules before = acme().with(three).with(rnd).with(queue(rnd, three));

        ChangeImpact changeImpact =
                ChangeImpact.between(before, before.without(rnd), List.of(holding(3), holding(3)), 4);

        assertThat(changeImpact.queuesRetired()).containsExactly("rnd-3xgpu");
        assertThat(changeImpact.becomingOverQuota()).isEqualTo(2);
        assertThat(changeImpact.waitingTouched()).isEqualTo(4);
    }

    @Test
    void poolsAreFilledOneByOne() {
        TenantRules rules = acme().with(rnd);

        assertThat(ChangeImpact.countOverQuota(
                        rules,
                        List.of(holding(3), new ChangeImpact.HeldAmount(CLOUD, rnd.id(), 1000, true), holding(3))))
                .isEqualTo(1);
    }

    @Test
    void workWithoutGpusIsNeverOverQuota() {
        assertThat(ChangeImpact.countOverQuota(acme(), List.of(new ChangeImpact.HeldAmount(H100, rnd.id(), 0, true))))
                .isZero();
    }

    @Test
    void aLimitThatCannotBindAndAPolicyWithoutProfilesAreWarnedOf() {
        Policy wide = policy("/wide", quota(H100, 0, 12));

        assertThat(ChangeImpact.between(acme(), acme().with(wide), List.of(), 0).warnings())
                .containsExactly(
                        "policy wide has no profiles, so members cannot submit work under it",
                        "the limit of policy wide in h100 is above the limit of /; the lower limit applies");
        assertThat(ChangeImpact.between(acme().with(wide), acme().with(wide).with(three), List.of(), 0)
                        .warnings())
                .isEmpty();
    }

    @Test
    void workBeyondACutThatContinuesIsWarnedOf() {
        TenantRules before = acme().with(three).with(rnd).with(queue(rnd, three));
        PolicyQuota cut =
                new PolicyQuota(Scope.of(H100), QuotaTerms.reserving(1000).withLimit(2000));
        TenantRules limited = before.with(rnd.with(List.of(cut), true, rnd.userLimitGpuMilli(), rnd.maxRunning()));
        TenantRules withoutOverQuota =
                before.with(rnd.with(List.of(cut), false, rnd.userLimitGpuMilli(), rnd.maxRunning()));

        assertThat(ChangeImpact.between(before, limited, List.of(holding(3)), 0).warnings())
                .containsExactly("policy rnd holds 3 GPUs in h100, but its limit is now 2. Excess work continues; no "
                        + "further work starts until it has ended");
        assertThat(ChangeImpact.between(before, withoutOverQuota, List.of(holding(2)), 0)
                        .warnings())
                .containsExactly("policy rnd holds 2 GPUs in h100, but its reserved amount is now 1. Excess work "
                        + "continues; no further work starts until it has ended");
        assertThat(ChangeImpact.between(before, limited, List.of(holding(2)), 0).warnings())
                .isEmpty();
    }

    @Test
    void whatADrainWillStopAndWhatItCannotIsWarnedOf() {
        PolicyQuota drained = new PolicyQuota(
                Scope.of(H100), QuotaTerms.reserving(1000).withLimit(2000).drainedBy(3_600_000));
        TenantRules before = acme().with(three).with(rnd).with(queue(rnd, three));
        TenantRules after =
                before.with(rnd.with(List.of(drained), rnd.overQuota(), rnd.userLimitGpuMilli(), rnd.maxRunning()));
        ChangeImpact.HeldAmount fixed = new ChangeImpact.HeldAmount(H100, rnd.id(), 3000, false);

        assertThat(ChangeImpact.between(before, after, List.of(holding(3), fixed), 0)
                        .warnings())
                .containsExactly("policy rnd holds 6 GPUs in h100; the service stops what it holds beyond 2 at "
                        + "1970-01-01T01:00:00Z, except 3 held by work that cannot be preempted");
        assertThat(ChangeImpact.between(before, after, List.of(holding(2)), 0).warnings())
                .isEmpty();
    }

    private ChangeImpact.HeldAmount holding(long gpus) {
        return new ChangeImpact.HeldAmount(H100, rnd.id(), gpus * 1000, true);
    }
}
