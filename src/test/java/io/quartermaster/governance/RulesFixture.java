package io.quartermaster.governance;

import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.capacity.grants.TenantAllotments;
import io.quartermaster.engine.model.GpuRequest;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.governance.rules.Policy;
import io.quartermaster.governance.rules.PolicyQuota;
import io.quartermaster.governance.rules.PreemptionAction;
import io.quartermaster.governance.rules.Profile;
import io.quartermaster.governance.rules.Queue;
import io.quartermaster.governance.rules.TenantRules;
import io.quartermaster.platform.Ids;
import io.quartermaster.platform.TenantId;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;

/** Rules for tests, in whole GPUs. */
public final class RulesFixture {

    static final TenantId ACME = new TenantId("acme");
    public static final UUID H100_ID = Ids.next();
    static final UUID CLOUD_ID = Ids.next();
    public static final PoolId H100 = new PoolId(H100_ID.toString());
    public static final PoolId CLOUD = new PoolId(CLOUD_ID.toString());

    private RulesFixture() {}

    /** Acme with 10 GPUs in h100 and 4 in cloud, with limits of the same size, and no other rules. */
    public static TenantRules acme() {
        return new TenantRules(
                ACME,
                List.of(granted("cloud", CLOUD_ID, 4), granted("h100", H100_ID, 10)),
                List.of(),
                List.of(),
                List.of());
    }

    public static TenantAllotments.NamedAllotment granted(String name, UUID pool, long gpus) {
        QuotaTerms terms = QuotaTerms.reserving(gpus * 1000).withLimit(gpus * 1000);
        return new TenantAllotments.NamedAllotment(
                name,
                pool,
                List.of("zone", "rack"),
                Duration.ofMinutes(5),
                new Allotment(ACME, new PoolId(pool.toString()), terms),
                0);
    }

    public static Policy policy(String group, PolicyQuota... quotas) {
        return new Policy(
                Ids.next(),
                group.substring(1).replace('/', '-'),
                new GroupPath(group),
                Arrays.asList(quotas),
                true,
                PreemptionAction.REQUEUE,
                Policy.DEFAULT_GRACE_MILLIS,
                OptionalLong.empty(),
                0);
    }

    public static PolicyQuota quota(PoolId pool, long reserved) {
        return new PolicyQuota(Scope.of(pool), QuotaTerms.reserving(reserved * 1000));
    }

    public static PolicyQuota quota(PoolId pool, long reserved, long limit) {
        return new PolicyQuota(
                Scope.of(pool),
                new QuotaTerms(
                        reserved * 1000, OptionalLong.of(limit * 1000), OptionalInt.empty(), OptionalLong.empty(), 0));
    }

    public static Profile profile(String name, long gpus, PoolId... pools) {
        return new Profile(
                Ids.next(),
                name,
                GpuRequest.whole(Math.toIntExact(gpus)),
                OptionalInt.empty(),
                OptionalInt.empty(),
                1,
                1,
                0,
                0,
                new TreeMap<>(),
                Profile.Topology.ANY,
                List.of(pools),
                false,
                OptionalLong.empty(),
                0);
    }

    public static Queue queue(Policy policy, Profile profile) {
        return Queue.of(Queue.nameOf(policy.name(), profile.name()), policy, profile, Queue.Terms.DEFAULT);
    }
}
