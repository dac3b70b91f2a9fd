package io.quartermaster;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.quarkus.reactive.datasource.ReactiveDataSource;
import io.quartermaster.platform.db.ExecutorDatabase;
import io.quartermaster.platform.db.LeaderDatabase;
import io.quartermaster.platform.db.OpenTransactions;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.mutiny.Uni;
import io.vertx.mutiny.redis.client.RedisAPI;
import jakarta.inject.Inject;
import jakarta.persistence.Entity;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.microprofile.config.inject.ConfigProperty;
import org.hibernate.reactive.mutiny.Mutiny;
import org.jspecify.annotations.NullMarked;

/** The imports between packages, the access to the database and the names, as ARCHITECTURE.md defines them. */
@AnalyzeClasses(packages = "io.quartermaster", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTest {

    private static final String ROOT = "io.quartermaster";

    /** The layers from the bottom; a package imports only from layers below its own. */
    private static final List<Set<String>> FLOORS = List.of(
            Set.of("ledger", "engine", "platform"),
            Set.of("metering", "access"),
            Set.of("billing", "capacity", "tenancy"),
            Set.of("governance"),
            Set.of("workloads"),
            Set.of("insight", "dispatch", "execution"));

    /**
     * The packages outside the layers, each with the packages that it may import. Only packages named here import them.
     */
    private static final Map<String, Set<String>> APART = Map.of(
            "", Set.of("launch"),
            "launch", Set.of("agent.protocol"),
            "cli", Set.of("agent", "agent.protocol", "client", "embedded", "engine", "launch", "ledger"),
            "client", Set.of("agent.protocol"),
            "embedded", Set.of("launch"),
            "loadtest", Set.of("access", "platform"),
            "agent", Set.of("agent.protocol"),
            "agent.protocol", Set.of());

    /** Imports that do not point to a lower layer, each with the decision that allows it. */
    private static final Map<String, Set<String>> ALLOWED_BESIDES = Map.of(
            // docs/adr/0008: the protocol records are all that service and agent share
            "execution.agents", Set.of("agent.protocol"),
            // docs/adr/0011: the gate decides which callers may read usage, but does not depend on usage
            "metering", Set.of("access"),
            // docs/adr/0015: the leader's own code forecasts its decisions
            "insight", Set.of("dispatch"));

    /**
     * The classes that may use the system role, which sees every tenant. They are: the leader with its readers and
     * writers; the agents' service (nodes belong to the operator); the closing of hours; issuer look-up; the audit
     * sealer; the deletion of expired rows; gauges; the resources for operators.
     */
    private static final Set<String> SYSTEM_ROLE = Set.of(
            "access.audit.AuditSealer",
            "access.IssuerDirectory",
            "access.NodeSessionIssuer",
            "capacity.grants.AllotmentService",
            "capacity.grants.CapacityReservationService",
            "capacity.inventory.ClusterService",
            "capacity.inventory.NodeService",
            "capacity.inventory.OperatorWriteContext",
            "capacity.inventory.PoolService",
            "dispatch.read.CellGauges",
            "dispatch.cells.CellService",
            "dispatch.read.CellSnapshotReader",
            "dispatch.Dispatcher",
            "dispatch.PoisonWorkloadFinder",
            "dispatch.LeaderTerm",
            "dispatch.LifecyclePass",
            "dispatch.quarantine.QuarantineService",
            "dispatch.quarantine.QuarantineRetry",
            "dispatch.quarantine.Quarantine",
            "execution.agents.AgentStore",
            "execution.agents.ContactBatch",
            "execution.agents.DesiredStateStore",
            "execution.agents.HeldCalls",
            "governance.policies.GroupDrift",
            "insight.fleet.FleetStore",
            "metering.audit.AuditService",
            "metering.audit.AuditOperation",
            "metering.audit.BookAudit",
            "metering.HourCloser",
            "metering.LedgerLag",
            "metering.UsageExport",
            "metering.UsageService",
            "platform.writes.OperatorWrites",
            "platform.operations.OperationRunner",
            "platform.db.RetentionCleaner",
            "platform.db.ExecutorDatabase",
            "platform.db.LeaderDatabase",
            "platform.db.SystemDatabase",
            "platform.inbox.Wakeups",
            "tenancy.IssuerStep",
            "tenancy.OffboardTenant",
            "tenancy.OperationResource",
            "tenancy.OperatorTenantResource",
            "tenancy.origins.OriginDirectory",
            "tenancy.QuotaRootStep",
            "tenancy.RealmUpkeep",
            "tenancy.TenantCredentials");

    @ArchTest
    static final ArchRule importsGoDownOnly = classes().should(importOnlyWhatIsBelow());

    /** The jar of the agent has these libraries beside it, and nothing of the service. */
    @ArchTest
    static final ArchRule theAgentUsesFewLibraries = classes()
            .that()
            .resideInAPackage(ROOT + ".agent..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    ROOT + ".agent..",
                    "java..",
                    "com.sun.management..",
                    "com.fasterxml.jackson..",
                    "picocli..",
                    "org.jspecify..");

    /** The jar of people's commands has these libraries beside it, and nothing of the service. */
    @ArchTest
    static final ArchRule theClientUsesFewLibraries = classes()
            .that()
            .resideInAPackage(ROOT + ".client..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage(
                    ROOT + ".client..",
                    ROOT + ".agent.protocol",
                    "java..",
                    "com.fasterxml.jackson..",
                    "org.yaml.snakeyaml..",
                    "picocli..",
                    "org.jspecify..");

    @ArchTest
    static final ArchRule packagesFormNoCircle =
            slices().matching(ROOT + ".(**)").should().beFreeOfCycles();

    /**
     * The layers within a package, from the bottom: a part imports only earlier parts. The empty name stands for the
     * package itself.
     */
    private static final Map<String, List<String>> LAYERS_WITHIN = Map.of(
            "engine",
                    List.of(
                            "model",
                            "quota",
                            "placement",
                            "preemption",
                            "state",
                            "order",
                            "plan",
                            "explain",
                            "",
                            "simulation"),
            "dispatch", List.of("lifecycle", "transaction", "read", "commit", "quarantine", "", "cells"));

    @ArchTest
    static final ArchRule layersWithinPackagesHold = classes().should(importOnlyLowerLayersWithinTheirPackage());

    /**
     * With type inference, code can use types that the compiler accepts, but the virtual machine refuses with an
     * IllegalAccessError.
     */
    @ArchTest
    static final ArchRule packagesUseOnlyPublicTypesOfOthers = classes().should(useOnlyPublicTypesOfOtherPackages());

    /** Packages with more files than this must be split by function. */
    private static final int MOST_FILES = 28;

    /** Packages of many small plain records, which readers use together. */
    private static final Set<String> MAY_BE_LARGER = Set.of("engine.model");

    @ArchTest
    static void noPackageIsTooLarge(JavaClasses program) throws IOException {
        for (JavaPackage one : packagesWithClasses(program)) {
            try (Stream<java.nio.file.Path> files = Files.list(
                    java.nio.file.Path.of("src/main/java", one.getName().replace('.', '/')))) {
                if (!MAY_BE_LARGER.contains(placeOf(one.getName()))) {
                    assertThat(files.filter(file -> file.toString().endsWith(".java"))
                                    .count())
                            .as("files of %s", one.getName())
                            .isLessThanOrEqualTo(MOST_FILES);
                }
            }
        }
    }

    @ArchTest
    static void noSimpleNameStandsTwiceAndNoneDifferByALetter(JavaClasses program) {
        List<String> names = program.stream()
                .filter(c -> c.isTopLevelClass() && !c.getSimpleName().equals("package-info"))
                .map(JavaClass::getSimpleName)
                .sorted()
                .toList();
        List<String> tooNear = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            for (int j = i + 1; j < names.size(); j++) {
                if (differByOneLetterAtMost(names.get(i), names.get(j))) {
                    tooNear.add(names.get(i) + " and " + names.get(j));
                }
            }
        }
        assertThat(names).hasSizeGreaterThan(500);
        assertThat(tooNear).isEmpty();
    }

    private static boolean differByOneLetterAtMost(String one, String other) {
        int same = 0;
        while (same < Math.min(one.length(), other.length()) && one.charAt(same) == other.charAt(same)) {
            same++;
        }
        String rest = one.substring(same);
        String otherRest = other.substring(same);
        return rest.equals(otherRest)
                || withoutFirst(rest).equals(withoutFirst(otherRest))
                || withoutFirst(rest).equals(otherRest)
                || rest.equals(withoutFirst(otherRest));
    }

    private static String withoutFirst(String text) {
        return text.isEmpty() ? text : text.substring(1);
    }

    @ArchTest
    static final ArchRule onlyNamedClassesSeeEveryTenant =
            classes().that(are(usingTheSystemRole())).should(beNamedIn(SYSTEM_ROLE));

    @ArchTest
    static void everyNamedClassStillDoes(JavaClasses program) {
        assertThat(SYSTEM_ROLE).allSatisfy(name -> assertThat(program.contain(ROOT + "." + name)
                        && usingTheSystemRole().test(program.get(ROOT + "." + name)))
                .as("%s uses the system role", name)
                .isTrue());
    }

    /** The leader's pool is for plans and their reads and writes. */
    @ArchTest
    static final ArchRule onlyTheLeaderUsesTheLeadersPool = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".dispatch..", ROOT + ".platform..")
            .should()
            .dependOnClassesThat(type(LeaderDatabase.class));

    /** The executors' pool is for the calls of agents, and for the checks of their sessions. */
    @ArchTest
    static final ArchRule onlyExecutorsUseTheExecutorsPool = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".execution..", ROOT + ".platform..")
            .and()
            .doNotHaveFullyQualifiedName(ROOT + ".access.NodeSessionIssuer")
            .should()
            .dependOnClassesThat(type(ExecutorDatabase.class));

    /** Calls to Keycloak and Redis happen outside transactions; these clients check that ({@link OpenTransactions}). */
    @ArchTest
    static final ArchRule otherSystemsAreCalledThroughDoorsThatAskForOpenTransactions = classes()
            .that(are(directlyUsing(RedisAPI.class)))
            .or(are(directlyUsing(HttpClient.class)))
            .and()
            .resideOutsideOfPackages(ROOT + ".agent..", ROOT + ".cli..", ROOT + ".client..", ROOT + ".embedded..")
            .should()
            .haveFullyQualifiedName(ROOT + ".platform.redis.RedisScriptRunner")
            .orShould()
            .haveFullyQualifiedName(ROOT + ".access.keycloak.KeycloakHttp");

    @ArchTest
    static final ArchRule onlyTheDoorToKeycloakUsesItsHttp = noClasses()
            .that()
            .resideOutsideOfPackage(ROOT + ".access.keycloak")
            .should()
            .dependOnClassesThat()
            .haveFullyQualifiedName(ROOT + ".access.keycloak.KeycloakHttp");

    @ArchTest
    static void doorsToOtherSystemsAskForOpenTransactions(JavaClasses program) {
        for (String door : List.of("platform.redis.RedisScriptRunner", "access.keycloak.KeycloakAdmin")) {
            assertThat(directlyUsing(OpenTransactions.class).test(program.get(ROOT + "." + door)))
                    .as("%s asks for open transactions", door)
                    .isTrue();
        }
    }

    @ArchTest
    static final ArchRule noClassMemoizes = noClasses()
            .should()
            .callMethod(Uni.class, "memoize")
            .because("a memoized Uni may pass its item on before the subscription; SharedCall says what follows");

    @ArchTest
    static final ArchRule onlyPlatformOpensConnectionsOrSessions = noClasses()
            .that()
            .resideOutsideOfPackage(ROOT + ".platform..")
            .should()
            .dependOnClassesThat(type(Mutiny.SessionFactory.class)
                    .or(type(io.vertx.mutiny.sqlclient.Pool.class))
                    .or(type(io.vertx.sqlclient.Pool.class))
                    .or(type(ReactiveDataSource.class)));

    @ArchTest
    static final ArchRule noClassOfTheServiceUsesJdbc = noClasses()
            .that()
            .resideOutsideOfPackages(ROOT + ".embedded..", ROOT + ".cli..")
            .should()
            .dependOnClassesThat(resideInAPackage("java.sql..").or(resideInAPackage("javax.sql..")));

    @ArchTest
    static final ArchRule resourcesAreNamedResource =
            classes().that().areAnnotatedWith(Path.class).should().haveSimpleNameEndingWith("Resource");

    @ArchTest
    static final ArchRule resourcesServeHttp =
            classes().that().haveSimpleNameEndingWith("Resource").should().beAnnotatedWith(Path.class);

    @ArchTest
    static final ArchRule entitiesAreNamedRow = classes()
            .that()
            .areAnnotatedWith(Entity.class)
            .should()
            .haveSimpleNameEndingWith("Row")
            .allowEmptyShould(true);

    @ArchTest
    static final ArchRule namesSayWhatAClassIs =
            noClasses().should().haveNameMatching(".*(Impl|Utils?|Helpers?|Managers?)($|\\$.*)");

    @ArchTest
    static final ArchRule dependenciesComeThroughTheConstructor =
            fields().should().notBeAnnotatedWith(Inject.class).andShould().notBeAnnotatedWith(ConfigProperty.class);

    @ArchTest
    static void everyPackageIsNullMarked(JavaClasses program) {
        assertThat(packagesWithClasses(program)).isNotEmpty().allSatisfy(one -> assertThat(
                        one.isAnnotatedWith(NullMarked.class))
                .as(one.getName())
                .isTrue());
    }

    @ArchTest
    static void everyPackageSaysWhatItOwnsAndWhatNotAndWhatAlwaysHolds(JavaClasses program) throws IOException {
        for (JavaPackage one : packagesWithClasses(program)) {
            String words = Files.readString(
                    java.nio.file.Path.of("src/main/java", one.getName().replace('.', '/'), "package-info.java"));
            assertThat(words).as(one.getName()).containsIgnoringCase("owns");
            assertThat(words).as(one.getName()).containsIgnoringCase("does not own");
            assertThat(words).as(one.getName()).containsIgnoringCase("invariants");
        }
    }

    @ArchTest
    static void everyPackageHasItsPlace(JavaClasses program) {
        assertThat(packagesWithClasses(program).stream()
                        .map(one -> placeOf(one.getName()))
                        .map(ArchitectureTest::firstWord))
                .allSatisfy(place -> assertThat(APART.containsKey(place) || floorOf(place) >= 0)
                        .as(place)
                        .isTrue());
    }

    private static Set<JavaPackage> packagesWithClasses(JavaClasses program) {
        return program.stream()
                .map(JavaClass::getPackage)
                .filter(one -> one.getClasses().stream()
                        .anyMatch(c -> !c.getSimpleName().equals("package-info")))
                .collect(Collectors.toSet());
    }

    private static ArchCondition<JavaClass> importOnlyWhatIsBelow() {
        return new ArchCondition<>("import only from floors below") {
            @Override
            public void check(JavaClass one, ConditionEvents events) {
                String from = placeOf(one.getPackageName());
                for (Dependency dependency : one.getDirectDependenciesFromSelf()) {
                    JavaClass target = dependency.getTargetClass().getBaseComponentType();
                    if (isOurs(target) && !mayImport(from, placeOf(target.getPackageName()))) {
                        events.add(SimpleConditionEvent.violated(one, dependency.getDescription()));
                    }
                }
            }
        };
    }

    private static ArchCondition<JavaClass> importOnlyLowerLayersWithinTheirPackage() {
        return new ArchCondition<>("import only lower layers within their package") {
            @Override
            public void check(JavaClass one, ConditionEvents events) {
                String from = placeOf(one.getPackageName());
                List<String> layers = LAYERS_WITHIN.get(firstWord(from));
                if (layers == null) {
                    return;
                }
                for (Dependency dependency : one.getDirectDependenciesFromSelf()) {
                    JavaClass target = dependency.getTargetClass().getBaseComponentType();
                    if (isOurs(target)
                            && firstWord(placeOf(target.getPackageName())).equals(firstWord(from))
                            && layerOf(layers, placeOf(target.getPackageName())) > layerOf(layers, from)) {
                        events.add(SimpleConditionEvent.violated(one, dependency.getDescription()));
                    }
                }
            }
        };
    }

    private static ArchCondition<JavaClass> useOnlyPublicTypesOfOtherPackages() {
        return new ArchCondition<>("use only public types of other packages") {
            @Override
            public void check(JavaClass one, ConditionEvents events) {
                for (Dependency dependency : one.getDirectDependenciesFromSelf()) {
                    JavaClass target = dependency.getTargetClass().getBaseComponentType();
                    if (isOurs(target)
                            && !target.getPackageName().equals(one.getPackageName())
                            && !target.getModifiers().contains(JavaModifier.PUBLIC)) {
                        events.add(SimpleConditionEvent.violated(one, dependency.getDescription()));
                    }
                }
            }
        };
    }

    private static int layerOf(List<String> layers, String place) {
        int layer = layers.indexOf(place.contains(".") ? place.substring(place.indexOf('.') + 1) : "");
        assertThat(layer).as("the layer of %s", place).isNotNegative();
        return layer;
    }

    private static boolean isAllowedBesides(String from, String to) {
        return Stream.of(from, firstWord(from))
                .flatMap(name -> ALLOWED_BESIDES.getOrDefault(name, Set.of()).stream())
                .anyMatch(allowed -> allowed.equals(to) || allowed.equals(firstWord(to)));
    }

    private static boolean mayImport(String from, String to) {
        if (from.equals(to) || isAllowedBesides(from, to)) {
            return true;
        }
        if (APART.containsKey(partApart(from)) || APART.containsKey(partApart(to))) {
            return partApart(from).equals(partApart(to))
                    || APART.getOrDefault(partApart(from), Set.of()).contains(partApart(to))
                    || APART.getOrDefault(partApart(from), Set.of()).contains(firstWord(to));
        }
        return firstWord(from).equals(firstWord(to)) || floorOf(firstWord(to)) < floorOf(firstWord(from));
    }

    /** The package's name below the root package: "dispatch", "execution.agents", "" for the root package itself. */
    private static String placeOf(String packageName) {
        return packageName.equals(ROOT) ? "" : packageName.substring(ROOT.length() + 1);
    }

    /** The name in {@link #APART} that a package belongs to: its own, otherwise its first segment. */
    private static String partApart(String place) {
        return APART.containsKey(place) ? place : firstWord(place);
    }

    private static String firstWord(String place) {
        return Stream.of(place.split("\\.")).findFirst().orElse("");
    }

    /** The number of a package's layer, from 0 at the bottom; -1 for a package outside the layers. */
    private static int floorOf(String place) {
        for (int floor = 0; floor < FLOORS.size(); floor++) {
            if (FLOORS.get(floor).contains(place)) {
                return floor;
            }
        }
        return -1;
    }

    private static boolean isOurs(JavaClass one) {
        return one.getPackageName().equals(ROOT) || one.getPackageName().startsWith(ROOT + ".");
    }

    private static DescribedPredicate<JavaClass> usingTheSystemRole() {
        return directlyUsing(SystemDatabase.class)
                .or(directlyUsing(LeaderDatabase.class))
                .or(directlyUsing(ExecutorDatabase.class));
    }

    private static DescribedPredicate<JavaClass> directlyUsing(Class<?> door) {
        return DescribedPredicate.describe(
                "using " + door.getSimpleName(),
                one -> one.isEquivalentTo(door)
                        || one.getDirectDependenciesFromSelf().stream()
                                .anyMatch(dependency ->
                                        dependency.getTargetClass().isEquivalentTo(door)));
    }

    private static ArchCondition<JavaClass> beNamedIn(Set<String> names) {
        return new ArchCondition<>("be one of the classes named here") {
            @Override
            public void check(JavaClass one, ConditionEvents events) {
                String name = one.getName().substring(ROOT.length() + 1).split("\\$", 2)[0];
                if (!names.contains(name)) {
                    events.add(SimpleConditionEvent.violated(one, name + " uses the system role and is not named"));
                }
            }
        };
    }
}
