package io.quartermaster.client.commands;

import io.quartermaster.client.settings.ClientFolder;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Help.Ansi;

/**
 * The environment of a command: its variables, folders, input and terminal.
 *
 * @param variables the environment variables
 * @param home the person's home folder
 * @param input standard input
 * @param terminal whether a person reads the output on a terminal
 * @param coloured whether that terminal shows colours
 */
public record ClientEnvironment(
        Map<String, String> variables, String home, InputStream input, boolean terminal, boolean coloured) {

    public ClientEnvironment {
        variables = Map.copyOf(variables);
    }

    /** The environment of this process. */
    public static ClientEnvironment ofProcess() {
        boolean terminal = hasTerminal();
        return new ClientEnvironment(
                System.getenv(),
                System.getProperty("user.home", "."),
                System.in,
                terminal,
                terminal && Ansi.AUTO.enabled());
    }

    /** The option {@code -Djdk.console=java.base} of the launcher brings back the null of older JDKs. */
    @SuppressWarnings("SystemConsoleNull")
    private static boolean hasTerminal() {
        return System.console() != null && System.console().isTerminal();
    }

    Path folder() {
        return ClientFolder.of(variables, home);
    }
}
