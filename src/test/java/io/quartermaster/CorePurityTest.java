package io.quartermaster;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The engine and the ledger give the same output for the same input: no clock, no randomness, no threads, no floating
 * point, no order that depends on a hash. Types and calls are checked in the compiled classes. Local variables and
 * loops, which leave no trace there, are checked in the source.
 */
@AnalyzeClasses(
        packages = {"io.quartermaster.engine", "io.quartermaster.ledger"},
        importOptions = ImportOption.DoNotIncludeTests.class)
class CorePurityTest {

    private static final Path SOURCES = Path.of("src/main/java/io/quartermaster");
    private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);
    private static final Pattern TEXT = Pattern.compile("\"(\\\\.|[^\"\\\\])*\"");
    private static final Pattern HASH_VARIABLE =
            Pattern.compile("\\b(\\w+)\\s*=\\s*new\\s+(?:java\\.util\\.)?Hash(?:Map|Set)\\b");

    /** Members whose answer differs from run to run. */
    private static final Set<String> CLOCKS_AND_CHANCE = Set.of(
            "java.lang.System.currentTimeMillis",
            "java.lang.System.nanoTime",
            "java.lang.System.identityHashCode",
            "java.lang.System.getenv",
            "java.lang.System.getProperty",
            "java.lang.Math.random",
            "java.util.UUID.randomUUID",
            "java.util.Collections.shuffle",
            "java.util.Collection.parallelStream");

    @ArchTest
    static final ArchRule engineKnowsOnlyTheJdk = classes()
            .that()
            .resideInAPackage("io.quartermaster.engine..")
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage("io.quartermaster.engine..", "org.jspecify.annotations")
                    .or(plainJdk()));

    @ArchTest
    static final ArchRule ledgerKnowsOnlyTheJdk = classes()
            .that()
            .resideInAPackage("io.quartermaster.ledger..")
            .should()
            .onlyDependOnClassesThat(resideInAnyPackage("io.quartermaster.ledger..", "org.jspecify.annotations")
                    .or(plainJdk()));

    @ArchTest
    static final ArchRule nothingAsksTheTimeOrChance =
            noClasses().should().callMethodWhere(describe("clock or chance", CorePurityTest::isClockOrChance));

    @Test
    void nothingIsCountedInFloatingPoint() {
        assertThat(matches(Pattern.compile("\\b(double|float|Double|Float)\\b")))
                .isEmpty();
    }

    @Test
    void nothingIteratesInHashOrder() {
        assertThat(coreFiles().flatMap(CorePurityTest::iterationsInHashOrder)).isEmpty();
    }

    /** {@code Set.of} and {@code Map.copyOf} order more than one entry by a salt that is new in each run. */
    @Test
    void nothingIsKeptInASaltedCollection() {
        assertThat(matches(Pattern.compile("\\b(?:Set|Map)\\.(?:of\\((?!\\))|copyOf\\(|ofEntries\\()")))
                .isEmpty();
        assertThat(matches(Pattern.compile("\\btoUnmodifiable(?:Set|Map)\\(|\\b(?:toSet|toMap|groupingBy)\\(")))
                .isEmpty();
    }

    private static com.tngtech.archunit.base.DescribedPredicate<com.tngtech.archunit.core.domain.JavaClass> plainJdk() {
        return resideInAnyPackage(
                        "java.lang",
                        "java.lang.annotation",
                        "java.lang.invoke",
                        "java.lang.runtime",
                        "java.math",
                        "java.nio",
                        "java.nio.charset",
                        "java.security",
                        "java.time",
                        "java.time.zone",
                        "java.util",
                        "java.util.function",
                        "java.util.regex",
                        "java.util.stream")
                .or(resideInAPackage(""))
                .and(describe("no clock, chance or thread", one -> !Set.of(
                                "java.lang.Thread",
                                "java.lang.Runtime",
                                "java.lang.ProcessBuilder",
                                "java.security.SecureRandom",
                                "java.time.Clock",
                                "java.time.InstantSource",
                                "java.util.Random",
                                "java.util.SplittableRandom",
                                "java.util.Timer")
                        .contains(one.getName())));
    }

    private static boolean isClockOrChance(JavaMethodCall call) {
        String owner = call.getTargetOwner().getName();
        return CLOCKS_AND_CHANCE.contains(owner + "." + call.getName())
                || owner.startsWith("java.time.") && call.getName().equals("now");
    }

    /** Loops, streams and copies of a variable that the same file creates as a {@code HashMap} or {@code HashSet}. */
    private static Stream<String> iterationsInHashOrder(Path file) {
        String code = codeOf(file);
        Matcher made = HASH_VARIABLE.matcher(code);
        return made.results()
                .map(result -> Pattern.quote(result.group(1)))
                .distinct()
                .flatMap(name -> Pattern.compile("\\b" + name
                                + "\\s*\\.(?:values|keySet|entrySet|forEach|stream|iterator|toArray)\\(|:\\s*" + name
                                + "\\)|(?:copyOf|addAll|putAll|List<>|Deque<>)\\(" + name + "\\)")
                        .matcher(code)
                        .results())
                .map(result -> file + ": " + result.group());
    }

    private static List<String> matches(Pattern forbidden) {
        return coreFiles()
                .flatMap(file -> forbidden.matcher(codeOf(file)).results().map(result -> file + ": " + result.group()))
                .toList();
    }

    private static Stream<Path> coreFiles() {
        return Stream.of("engine", "ledger").flatMap(CorePurityTest::filesOf).filter(file -> file.toString()
                .endsWith(".java"));
    }

    private static Stream<Path> filesOf(String folder) {
        try (Stream<Path> files = Files.walk(SOURCES.resolve(folder))) {
            return files.sorted().toList().stream();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String codeOf(Path file) {
        try {
            String text = TEXT.matcher(Files.readString(file)).replaceAll("\"\"");
            return COMMENT.matcher(text).replaceAll("");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
