package io.quartermaster.client.commands;

import io.quartermaster.client.settings.ClientFolder;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.Map;
import picocli.CommandLine.Help.Ansi;

/**
 * What a command finds around it.
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
        boolean terminal = System.console() != null && System.console().isTerminal();
        return new ClientEnvironment(
                System.getenv(),
                System.getProperty("user.home", "."),
                System.in,
                terminal,
                terminal && Ansi.AUTO.enabled());
    }

    Path folder() {
        return ClientFolder.of(variables, home);
    }
}
