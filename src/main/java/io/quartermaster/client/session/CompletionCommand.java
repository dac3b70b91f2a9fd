package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;

/** {@code qm completion}: prints a script that completes commands and options in a shell. */
@Command(
        name = "completion",
        description = "Prints a script that completes commands and options in bash, zsh or fish.",
        footer = {
            "%nExamples:%n",
            "  qm completion bash > ~/.local/share/bash-completion/completions/qm",
            "  qm completion zsh > ~/.qm-completion && echo 'source ~/.qm-completion' >> ~/.zshrc",
            "  qm completion fish > ~/.config/fish/completions/qm.fish"
        })
final class CompletionCommand extends PersonCommand {

    @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish")
    private String shell = "";

    private final Supplier<CommandLine> whole;

    CompletionCommand(ClientEnvironment environment, Supplier<CommandLine> whole) {
        super(environment);
        this.whole = whole;
    }

    @Override
    protected ExitStatus run() {
        CommandLine root = whole.get();
        String script =
                switch (shell) {
                    // The script of picocli loads zsh's emulation of bash by itself.
                    case "bash", "zsh" -> AutoComplete.bash("qm", root);
                    case "fish" -> fish(root);
                    default ->
                        throw CommandFailure.usage("\"" + shell + "\" is not a known shell; accepted: bash, zsh, fish");
                };
        ObjectNode document =
                DocumentWriter.JSON.createObjectNode().put("shell", shell).put("script", script);
        print(document, List.of(shell), () -> out().print(script));
        return ExitStatus.OK;
    }

    /** A completion script for fish: commands, their subcommands, and options with their descriptions. */
    static String fish(CommandLine root) {
        List<String> lines = new ArrayList<>();
        lines.add("# Completion of qm for fish. Made by: qm completion fish");
        lines.add("complete -c qm -f");
        addSubcommands(lines, root, "__fish_use_subcommand");
        root.getSubcommands().forEach((name, command) -> {
            String seen = "__fish_seen_subcommand_from " + name;
            if (command.getSubcommands().isEmpty()) {
                addOptions(lines, command.getCommandSpec(), seen);
            } else {
                String names = String.join(" ", command.getSubcommands().keySet());
                addSubcommands(lines, command, seen + "; and not __fish_seen_subcommand_from " + names);
                command.getSubcommands()
                        .forEach((below, inner) -> addOptions(
                                lines, inner.getCommandSpec(), seen + "; and __fish_seen_subcommand_from " + below));
            }
        });
        return String.join("\n", lines) + "\n";
    }

    private static void addSubcommands(List<String> lines, CommandLine command, String condition) {
        command.getSubcommands().forEach((name, below) -> {
            if (!below.getCommandSpec().usageMessage().hidden()) {
                lines.add("complete -c qm -n " + quoted(condition) + " -a " + name + " -d "
                        + quoted(first(below.getCommandSpec().usageMessage().description())));
            }
        });
    }

    private static void addOptions(List<String> lines, CommandSpec command, String condition) {
        for (OptionSpec option : command.options()) {
            if (option.hidden()) {
                continue;
            }
            StringBuilder line = new StringBuilder("complete -c qm -n " + quoted(condition));
            for (String name : option.names()) {
                line.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
            }
            if (option.arity().max() > 0) {
                line.append(option.paramLabel().equals("FILE") ? " -r -F" : " -x");
            }
            if (option.paramLabel().equals("FORMAT")) {
                line.append(" -a 'table json yaml name'");
            }
            lines.add(line.append(" -d ")
                    .append(quoted(first(option.description())))
                    .toString());
        }
    }

    private static String first(String[] description) {
        return description.length == 0 ? "" : description[0].replaceAll(" Default: \\$\\{.*", "");
    }

    private static String quoted(String text) {
        return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'";
    }
}
