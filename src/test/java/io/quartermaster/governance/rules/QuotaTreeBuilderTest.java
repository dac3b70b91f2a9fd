package io.quartermaster.governance.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.access.GroupPath;
import io.quartermaster.capacity.grants.Allotment;
import io.quartermaster.capacity.grants.QuotaTerms;
import io.quartermaster.engine.model.PoolId;
import io.quartermaster.engine.model.Quota;
import io.quartermaster.engine.model.QuotaPath;
import io.quartermaster.engine.model.Scope;
import io.quartermaster.platform.TenantId;
import io.quartermaster.testing.RandomCases;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Random;
import java.util.SequencedMap;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class QuotaTreeBuilderTest {

    private static final TenantId ACME = new TenantId("acme");
    private static final PoolId H100 = new PoolId("h100");
    private static final PoolId CLOUD = new PoolId("cloud");

    @Test
    void groupsLieUnderTheirNearestAncestorThatHasAQuotaInTheSamePool() {
        QuotaTreeBuilder tree = QuotaTreeBuilder.of(
                ACME,
                List.of(allotted(H100, 10), allotted(CLOUD, 4)),
                List.of(
                        policy("/research", in(H100, 6)),
                        policy("/research/nlp/llm", in(H100, 2), in(CLOUD, 1)),
                        policy("/research-ops", in(H100, 1))));

        assertThat(parent(tree, "acme/research/nlp/llm", H100)).isEqualTo("acme/research");
        assertThat(parent(tree, "acme/research/nlp/llm", CLOUD)).isEqualTo("acme");
        assertThat(parent(tree, "acme/research-ops", H100)).isEqualTo("acme");
        assertThat(tree.parentOf(QuotaPath.of("acme"), Scope.of(H100))).isEmpty();
    }

    @Test
    void quotasComeByPoolAndParentsComeFirst() {
        QuotaTreeBuilder tree = QuotaTreeBuilder.of(
                ACME,
                List.of(allotted(H100, 10), allotted(CLOUD, 4)),
                List.of(policy("/b/c", in(H100, 1)), policy("/b", in(H100, 2)), policy("/a", in(CLOUD, 1))));

        assertThat(tree.quotas())
                .extracting(quota -> quota.scope() + " " + quota.path())
                .containsExactly("cloud acme", "cloud acme/a", "h100 acme", "h100 acme/b", "h100 acme/b/c");
    }

    @Test
    void termsReachTheEngineWithoutADefaultTakenHere() {
        QuotaTerms terms = new QuotaTerms(5000, OptionalLong.of(9000), OptionalInt.of(2), OptionalLong.of(1000), 3);
        QuotaTreeBuilder tree = QuotaTreeBuilder.of(
                ACME,
                List.of(allotted(H100, 10)),
                List.of(policy("/rnd", new PolicyQuota(Scope.of(H100), terms)), policy("/ops", in(H100, 5))));

        assertThat(tree.quotaAt(QuotaPath.parse("acme/rnd"), Scope.of(H100)))
                .hasValue(new Quota(
                        QuotaPath.parse("acme/rnd"),
                        Scope.of(H100),
                        5000,
                        OptionalLong.of(9000),
                        OptionalLong.of(2000),
                        OptionalLong.of(1000),
                        3,
                        true));
        assertThat(tree.quotaAt(QuotaPath.parse("acme/ops"), Scope.of(H100)).orElseThrow())
                .isEqualTo(Quota.reserving(QuotaPath.parse("acme/ops"), Scope.of(H100), 5000));
    }

    @Test
    void aQuotaWhereTheTenantHasNoAllotmentHasNoPlace() {
        QuotaTreeBuilder tree = QuotaTreeBuilder.of(
                ACME, List.of(allotted(H100, 10)), List.of(policy("/rnd", in(CLOUD, 1), in(H100, 1))));

        assertThat(tree.quotas()).extracting(Quota::scope).containsOnly(Scope.of(H100));
        assertThat(tree.lowestLimit(QuotaPath.parse("acme/rnd"), CLOUD)).hasValue(0);
    }

    @Test
    void anotherTenantsAllotmentIsLeftOut() {
        Allotment other = new Allotment(new TenantId("bravo"), H100, QuotaTerms.reserving(7000));

        QuotaTreeBuilder tree = QuotaTreeBuilder.of(ACME, List.of(allotted(H100, 10), other), List.of());

        assertThat(tree.quotas()).containsExactly(Quota.reserving(QuotaPath.of("acme"), Scope.of(H100), 10_000));
    }

    @Test
    void aQuotaOverAllPoolsOpensEachAllottedPoolAndBringsTheOthersIntoItsTree() {
        QuotaTreeBuilder tree = QuotaTreeBuilder.of(
                ACME,
                List.of(allotted(H100, 10), allotted(CLOUD, 4)),
                List.of(policy("/rnd", all(8)), policy("/ops", in(H100, 3), in(CLOUD, 1))));

        assertThat(tree.quotas())
                .extracting(quota -> quota.scope() + " " + quota.path() + " " + quota.reservedGpuMilli())
                .containsExactly(
                        "* acme 14000",
                        "* acme/ops 4000",
                        "* acme/rnd 8000",
                        "cloud acme 4000",
                        "cloud acme/ops 1000",
                        "cloud acme/rnd 0",
                        "h100 acme 10000",
                        "h100 acme/ops 3000",
                        "h100 acme/rnd 0");
    }

    @Test
    void noTreeOverAllPoolsUnlessSomebodyAsksForIt() {
        List<Allotment> allotments = List.of(allotted(H100, 10));
        List<Policy> policies = List.of(policy("/rnd", in(H100, 3)));

        assertThat(QuotaTreeBuilder.of(ACME, allotments, policies).quotas())
                .noneMatch(quota -> quota.scope().equals(Scope.ALL_POOLS));
        assertThat(QuotaTreeBuilder.withAllPools(ACME, allotments, policies).quotas())
                .filteredOn(Quota::implied)
                .extracting(quota -> quota.scope() + " " + quota.path() + " " + quota.reservedGpuMilli())
                .containsExactly("* acme 10000", "* acme/rnd 3000");
    }

    @Test
    void childrenThatReserveMoreThanTheirParentAreNamed() {
        QuotaTreeBuilder tree = QuotaTreeBuilder.of(
                ACME,
                List.of(allotted(H100, 10)),
                List.of(
                        policy("/rnd", in(H100, 6)),
                        policy("/rnd/a", in(H100, 4)),
                        policy("/rnd/b", in(H100, 3)),
                        policy("/rnd/c", in(H100, 0)),
                        policy("/ops", in(H100, 4))));

        assertThat(tree.overdrafts()).singleElement().satisfies(overdraft -> {
            assertThat(overdraft.parent().path()).hasToString("acme/rnd");
            assertThat(overdraft.children())
                    .extracting(child -> child.path().last())
                    .containsExactly("a", "b");
            assertThat(overdraft.childrenReservedGpuMilli()).isEqualTo(7000);
        });
    }

    /** Compares with the definition: a place's parent is the nearest place above it in the same tree. */
    @Test
    @Tag("properties")
    void childrenAreThosePlacesWhoseNearestPlaceAboveItIs() {
        RandomCases.forEach(200, 90, (seed, judged) -> {
            QuotaTreeBuilder tree = randomTree(new Random(seed));
            SequencedMap<Quota, List<Quota>> expected = new LinkedHashMap<>();
            for (Quota parent : tree.quotas()) {
                List<Quota> children = tree.quotas().stream()
                        .filter(quota ->
                                tree.parentOf(quota.path(), quota.scope()).equals(Optional.of(parent)))
                        .toList();
                if (!children.isEmpty()) {
                    judged.check();
                    expected.put(parent, children);
                }
            }

            assertThat(List.copyOf(tree.children().entrySet()))
                    .as("seed %d", seed)
                    .isEqualTo(List.copyOf(expected.entrySet()));
        });
    }

    /**
     * A tree with names of equal beginnings, and with groups whose parents have a policy, a quota elsewhere, or none.
     */
    private static QuotaTreeBuilder randomTree(Random random) {
        List<String> names = List.of("a", "a-b", "ab", "b");
        Set<String> groups = new TreeSet<>();
        for (int i = 0; i < 25; i++) {
            StringBuilder group = new StringBuilder();
            int depth = 1 + random.nextInt(4);
            for (int level = 0; level < depth; level++) {
                group.append('/').append(names.get(random.nextInt(names.size())));
            }
            groups.add(group.toString());
        }
        List<Policy> policies = groups.stream()
                .map(group -> switch (random.nextInt(4)) {
                    case 0 -> policy(group, in(H100, random.nextInt(3)));
                    case 1 -> policy(group, in(CLOUD, random.nextInt(3)));
                    case 2 -> policy(group, in(H100, 1), in(CLOUD, 1));
                    default -> policy(group, all(random.nextInt(3)));
                })
                .toList();
        return QuotaTreeBuilder.of(ACME, List.of(allotted(H100, 10), allotted(CLOUD, 4)), policies);
    }

    @Test
    void reservationsOverAllPoolsFitTheAllotmentsTogether() {
        List<Allotment> allotments = List.of(allotted(H100, 10), allotted(CLOUD, 4));

        assertThat(QuotaTreeBuilder.of(ACME, allotments, List.of(policy("/rnd", all(14))))
                        .overdrafts())
                .isEmpty();
        assertThat(QuotaTreeBuilder.of(ACME, allotments, List.of(policy("/rnd", all(14)), policy("/ops", in(H100, 1))))
                        .overdrafts())
                .extracting(overdraft -> overdraft.parent().scope())
                .containsExactly(Scope.ALL_POOLS);
    }

    @Test
    void theCeilingIsTheLeastLimitOnThePath() {
        QuotaTreeBuilder tree = QuotaTreeBuilder.of(
                ACME,
                List.of(new Allotment(ACME, H100, QuotaTerms.reserving(5000).withLimit(8000)), allotted(CLOUD, 4)),
                List.of(
                        policy(
                                "/rnd",
                                new PolicyQuota(
                                        Scope.of(H100), QuotaTerms.reserving(0).withLimit(9000))),
                        policy(
                                "/rnd/nlp",
                                new PolicyQuota(
                                        Scope.of(H100), QuotaTerms.reserving(0).withLimit(3000))),
                        policy("/ops", in(CLOUD, 0))));

        assertThat(tree.lowestLimit(QuotaPath.parse("acme/rnd"), H100)).hasValue(8000);
        assertThat(tree.lowestLimit(QuotaPath.parse("acme/rnd/nlp"), H100)).hasValue(3000);
        assertThat(tree.lowestLimit(QuotaPath.parse("acme/ops"), CLOUD)).isEmpty();
        assertThat(tree.lowestLimit(QuotaPath.parse("acme/ops"), H100)).hasValue(0);
    }

    @Test
    void withOverQuotaOffTheReservationIsTheCeiling() {
        Policy strict = new Policy(
                UUID.randomUUID(),
                "strict",
                new GroupPath("/rnd"),
                List.of(new PolicyQuota(
                        Scope.of(H100), QuotaTerms.reserving(2000).withLimit(9000))),
                false,
                PreemptionAction.REQUEUE,
                0,
                OptionalLong.empty(),
                0);

        QuotaTreeBuilder tree = QuotaTreeBuilder.of(ACME, List.of(allotted(H100, 10)), List.of(strict));

        assertThat(tree.lowestLimit(QuotaPath.parse("acme/rnd"), H100)).hasValue(2000);
    }

    @Test
    void twoPoliciesOfOneGroupAreRefused() {
        List<Policy> twice = List.of(policy("/rnd", in(H100, 1)), policy("/rnd", in(H100, 2)));

        assertThatThrownBy(() -> QuotaTreeBuilder.of(ACME, List.of(allotted(H100, 10)), twice))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("acme/rnd");
    }

    private static String parent(QuotaTreeBuilder tree, String path, PoolId pool) {
        return tree.parentOf(QuotaPath.parse(path), Scope.of(pool))
                .orElseThrow()
                .path()
                .toString();
    }

    private static Allotment allotted(PoolId pool, long gpus) {
        return new Allotment(ACME, pool, QuotaTerms.reserving(gpus * 1000));
    }

    private static PolicyQuota in(PoolId pool, long gpus) {
        return new PolicyQuota(Scope.of(pool), QuotaTerms.reserving(gpus * 1000));
    }

    private static PolicyQuota all(long gpus) {
        return new PolicyQuota(Scope.ALL_POOLS, QuotaTerms.reserving(gpus * 1000));
    }

    private static Policy policy(String group, PolicyQuota... quotas) {
        return new Policy(
                UUID.randomUUID(),
                group.substring(1).replace('/', '-'),
                new GroupPath(group),
                Arrays.asList(quotas),
                true,
                PreemptionAction.REQUEUE,
                Policy.DEFAULT_GRACE_MILLIS,
                OptionalLong.empty(),
                0);
    }
}
