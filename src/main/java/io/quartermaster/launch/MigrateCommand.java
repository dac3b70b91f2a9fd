package io.quartermaster.launch;

import io.quarkus.runtime.Quarkus;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code qm migrate}: migrates an external database to the schema of this version and ends, so that serving replicas do
 * not need its owner's account.
 */
@Command(
        name = "migrate",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description = {
            "Migrates the database at QM_DATABASE_URL to the schema of this version, as its owner, and ends.",
            "Needs QM_DATABASE_OWNER_USER and QM_DATABASE_OWNER_PASSWORD, and the names of the other two roles,"
                    + " QM_DATABASE_REQUEST_USER and QM_DATABASE_SYSTEM_USER. A service that is started without "
                    + "the owner's"
                    + " account then only compares the schema."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {"0:the database has the schema of this version", "4:the migration failed; the message says why"
        })
public final class MigrateCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    public MigrateCommand() {}

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        ExternalServices.migrations(System.getenv()).forEach(System::setProperty);
        // The normal start of the service, up to the end of the migrations.
        System.setProperty("quarkus.init-and-exit", "true");
        AtomicInteger exitCode = new AtomicInteger(ExitCodes.OK);
        Quarkus.run(null, (code, failure) -> {
            if (failure != null) {
                out.println("qm: the migration of the database failed: " + StartFailureText.rootMessage(failure));
                exitCode.set(ExitCodes.CANNOT_START);
            } else if (code != 0) {
                exitCode.set(ExitCodes.CANNOT_START);
            }
        });
        if (exitCode.get() == ExitCodes.OK) {
            out.println("The database has the schema of this version.");
        }
        out.flush();
        return exitCode.get();
    }
}
