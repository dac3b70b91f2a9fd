package io.quartermaster.client.commands;

import io.quartermaster.client.output.SimilarNames;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Ends a command with a wrong option: with its message, similar names and the way to the help; not the whole help. */
public final class WrongUse implements IParameterExceptionHandler {

    private static final Pattern CONSTANTS = Pattern.compile("expected one of \\[([^\\]]*)\\] \\(case-insensitive\\)");

    public WrongUse() {}

    @Override
    public int handleParseException(ParameterException wrong, String[] arguments) {
        CommandLine command = wrong.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("qm: " + message(wrong));
        if (wrong instanceof UnmatchedArgumentException unmatched) {
            List<String> similar = similar(command, unmatched);
            if (!similar.isEmpty()) {
                err.println("Did you mean: " + String.join(" or ", similar) + "?");
            }
        }
        err.println("See: " + command.getCommandSpec().qualifiedName() + " --help");
        err.flush();
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }

    /** Values of options are written in lower case. */
    private static String message(ParameterException wrong) {
        return CONSTANTS
                .matcher(String.valueOf(wrong.getMessage()))
                .replaceAll((MatchResult found) -> "expected " + found.group(1).toLowerCase(Locale.ROOT));
    }

    private static List<String> similar(CommandLine command, UnmatchedArgumentException unmatched) {
        String word = unmatched.getUnmatched().getFirst();
        Set<String> known = new TreeSet<>();
        if (unmatched.isUnknownOption()) {
            for (OptionSpec option : command.getCommandSpec().options()) {
                if (!option.hidden()) {
                    known.addAll(List.of(option.names()));
                }
            }
        } else {
            known.addAll(command.getSubcommands().keySet());
        }
        return SimilarNames.of(word, known);
    }
}
