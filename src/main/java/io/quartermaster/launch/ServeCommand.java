package io.quartermaster.launch;

import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code up} where nothing is embedded: runs the service with PostgreSQL, Redis and Keycloak given from outside. */
@Command(
        name = "up",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Runs the service with PostgreSQL, Redis and Keycloak at QM_DATABASE_URL, QM_REDIS_URL and QM_KEYCLOAK_URL,"
                    + " each with its users and passwords.",
            "Ctrl-C stops it."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:stopped by a signal",
            "2:an option is wrong",
            "4:cannot start; the message says why and what to do"
        })
final class ServeCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private ListenOptions listen;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    ServeCommand() {}

    @Override
    public Integer call() {
        ExternalServices given = ExternalServices.from(System.getenv());
        Set<Component> missing = given.embedded();
        if (!missing.isEmpty()) {
            throw new StartFailure("This program embeds no "
                    + missing.stream().map(Component::title).sorted().collect(Collectors.joining(", no "))
                    + ". Set QM_DATABASE_URL, QM_REDIS_URL and QM_KEYCLOAK_URL, each with its users and passwords.");
        }
        OrderlyExit.onSignals();
        return new ServiceRunner(message -> spec.commandLine().getErr().println("qm: " + message)).run(given, listen);
    }
}
