package io.quartermaster.launch;

import java.util.ServiceLoader;
import picocli.CommandLine;

/**
 * Maker of the command line that this program offers. The service's artefact has {@link ServiceCommand}. An artefact
 * with more commands registers its own factory as a {@link ServiceLoader} provider.
 */
public interface CommandLineFactory {

    /** A new command line; each call makes another. */
    CommandLine create();

    /** The registered factory, or the commands of the service alone where none is registered. */
    static CommandLineFactory installed() {
        return ServiceLoader.load(CommandLineFactory.class, CommandLineFactory.class.getClassLoader())
                .findFirst()
                .orElse(ServiceCommand::commandLine);
    }

    /** The same command line, in which a failure to start ends with its message and {@link ExitCodes#CANNOT_START}. */
    static CommandLine reportingStartFailures(CommandLine commandLine) {
        return commandLine
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((failure, command, result) -> {
                    if (failure instanceof StartFailure) {
                        command.getErr().println("qm: " + failure.getMessage());
                        return ExitCodes.CANNOT_START;
                    }
                    throw failure;
                });
    }
}
