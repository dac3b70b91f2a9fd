package io.quartermaster.client;

import io.quartermaster.client.commands.ClientEnvironment;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import picocli.CommandLine;

/** Runs commands of people in this process, as on a machine with a home folder of its own. */
public final class ClientRun {

    private final Map<String, String> variables = new HashMap<>();
    private final Path home;
    private String input = "";

    /** The end of a command. */
    public record Result(int exitCode, String out, String err) {

        /** The output without the line feed at its end. */
        public String line() {
            return out.stripTrailing();
        }
    }

    public ClientRun(Path home) {
        this.home = home;
        variables.put("XDG_CONFIG_HOME", home.resolve("config").toString());
    }

    public ClientRun with(String variable, String value) {
        variables.put(variable, value);
        return this;
    }

    public ClientRun withInput(String text) {
        input = text;
        return this;
    }

    public Path folder() {
        return home.resolve("config/qm");
    }

    public Result run(String... arguments) {
        return run(new StringWriter(), arguments);
    }

    /** Runs a command whose messages another thread reads meanwhile. */
    public Result run(StringWriter err, String... arguments) {
        StringWriter out = new StringWriter();
        CommandLine line = ClientProgram.commandLine(new ClientEnvironment(
                variables,
                home.toString(),
                new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8)),
                false,
                false));
        line.setOut(new PrintWriter(out, true));
        line.setErr(new PrintWriter(err, true));
        int exitCode = line.execute(arguments);
        return new Result(exitCode, out.toString(), err.toString());
    }
}
