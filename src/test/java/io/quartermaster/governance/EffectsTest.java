package io.quartermaster.governance;

import io.quartermaster.governance.rules.OnPreemption;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.TenantRules;

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
import io.quartermaster.platform.GpuAmount;
import java.util.List;
import org.junit.jupiter.api.Test;

class EffectsTest {

    private final Policy rnd = policy("/rnd", quota(H100, 6, 9));
    private final Profile three = profile("3xgpu", 3, H100);

    @Test
    void aNewPolicyShowsItsQueuesAndWhatIsGivenOutOfTheAllotment() {
        TenantRules before = acme().with(three);

        Effects effects = Effects.between(before, before.with(rnd).with(queue(rnd, three)), List.of(), 0);

        assertThat(effects.queuesMade()).containsExactly("rnd-3xgpu");
        assertThat(effects.queuesRetired()).isEmpty();
        assertThat(effects.reserved())
                .containsExactly(new Effects.Reserved(
                        "h100", "/", new GpuAmount(10_000), new GpuAmount(0), new GpuAmount(6000)));
        assertThat(effects.warnings()).isEmpty();
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
                OnPreemption.REQUEUE,
                0,
                rnd.userLimitGpuMilli(),
                1);
        var held = List.of(holding(3), holding(3), holding(3));

        assertThat(Effects.overQuota(before, held)).isEqualTo(1);
        assertThat(Effects.between(before, before.with(cut), held, 0).becomingOverQuota())
                .isEqualTo(1);
    }

    @Test
    void aRetiredPolicyLeavesAllItsRunningWorkOverQuota() {
        TenantRules before = acme().with(three).with(rnd).with(queue(rnd, three));

        Effects effects = Effects.between(before, before.without(rnd), List.of(holding(3), holding(3)), 4);

        assertThat(effects.queuesRetired()).containsExactly("rnd-3xgpu");
        assertThat(effects.becomingOverQuota()).isEqualTo(2);
        assertThat(effects.waitingTouched()).isEqualTo(4);
    }

    @Test
    void poolsAreFilledOneByOne() {
        TenantRules rules = acme().with(rnd);

        assertThat(Effects.overQuota(
                        rules, List.of(holding(3), new Effects.Held(CLOUD, rnd.id(), 1000, true), holding(3))))
                .isEqualTo(1);
    }

    @Test
    void workWithoutGpusIsNeverOverQuota() {
        assertThat(Effects.overQuota(acme(), List.of(new Effects.Held(H100, rnd.id(), 0, true))))
                .isZero();
    }

    @Test
    void aLimitThatCannotBindAndAPolicyWithoutProfilesAreWarnedOf() {
        Policy wide = policy("/wide", quota(H100, 0, 12));

        assertThat(Effects.between(acme(), acme().with(wide), List.of(), 0).warnings())
                .containsExactly(
                        "policy wide has no profiles, so nothing can be submitted under it",
                        "the limit of policy wide in h100 is above that of /, which binds");
        assertThat(Effects.between(acme().with(wide), acme().with(wide).with(three), List.of(), 0)
                        .warnings())
                .isEmpty();
    }

    @Test
    void whatADrainWillStopAndWhatItCannotIsWarnedOf() {
        PolicyQuota drained = new PolicyQuota(
                Scope.of(H100), QuotaTerms.reserving(1000).withLimit(2000).drainedBy(3_600_000));
        TenantRules before = acme().with(three).with(rnd).with(queue(rnd, three));
        TenantRules after =
                before.with(rnd.with(List.of(drained), rnd.overQuota(), rnd.userLimitGpuMilli(), rnd.maxRunning()));
        Effects.Held fixed = new Effects.Held(H100, rnd.id(), 3000, false);

        assertThat(Effects.between(before, after, List.of(holding(3), fixed), 0).warnings())
                .containsExactly(
                        "policy rnd holds 6 GPUs in h100, and what is beyond 2 at 1970-01-01T01:00:00Z is stopped,"
                                + " except 3 held by work that cannot be preempted");
        assertThat(Effects.between(before, after, List.of(holding(2)), 0).warnings())
                .isEmpty();
    }

    private Effects.Held holding(long gpus) {
        return new Effects.Held(H100, rnd.id(), gpus * 1000, true);
    }
}
