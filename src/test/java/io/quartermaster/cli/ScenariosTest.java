package io.quartermaster.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.cli.scenario.ScenarioReader;
import io.quartermaster.engine.simulation.Scenario;
import io.quartermaster.engine.simulation.Simulation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicContainer;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** All expectations of the scenario files in the test resources hold. */
class ScenariosTest {
    private static final Path SCENARIOS = Path.of("src/test/resources/scenarios");

    @TestFactory
    List<DynamicContainer> everyScenarioHolds() throws IOException {
        List<DynamicContainer> files = new ArrayList<>();
        try (Stream<Path> found = Files.walk(SCENARIOS)) {
            for (Path file : found.filter(path -> path.toString().endsWith(".yaml"))
                    .sorted()
                    .toList()) {
                files.add(DynamicContainer.dynamicContainer(
                        SCENARIOS.relativize(file).toString(),
                        ScenarioReader.read(Files.readString(file)).stream().map(ScenariosTest::holds)));
            }
        }
        return files;
    }

    private static DynamicTest holds(Scenario scenario) {
        return DynamicTest.dynamicTest(
                scenario.name(), () -> assertThat(Simulation.run(scenario).failures())
                        .as("scenario %s", scenario.name())
                        .isEmpty());
    }
}
