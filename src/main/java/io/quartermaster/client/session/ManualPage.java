package io.quartermaster.client.session;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The manual page of a command, in the macros of man(7), from the texts of its help. */
final class ManualPage {

    private final CommandLine command;
    private final CommandSpec spec;

    ManualPage(CommandLine command) {
        this.command = command;
        this.spec = command.getCommandSpec();
    }

    /** The name of the page, such as {@code qm-nodes-drain}. */
    String name() {
        return spec.qualifiedName("-");
    }

    /** The lines of the page. */
    String text() {
        List<String> lines = new ArrayList<>();
        lines.add(".TH " + name().toUpperCase(Locale.ROOT) + " 1 \"\" \"" + version() + "\" \"Quartermaster\"");
        List<String> description = texts(spec.usageMessage().description());
        lines.add(".SH NAME");
        lines.add(escaped(name() + " ") + "\\- " + escaped(description.isEmpty() ? "" : description.getFirst()));
        lines.add(".SH SYNOPSIS");
        lines.add(escaped(command.getHelp().synopsis(0).strip().replaceAll("\\s+", " ")));
        section(lines, "DESCRIPTION", description);
        entries(lines, "PARAMETERS", List.copyOf(spec.positionalParameters()));
        entries(lines, "OPTIONS", List.copyOf(spec.options()));
        if (!command.getSubcommands().isEmpty()) {
            lines.add(".SH COMMANDS");
            command.getSubcommands().forEach((name, below) -> {
                lines.add(".TP");
                lines.add("\\fB" + escaped(name) + "\\fR");
                lines.add(paragraph(String.join(
                        " ", texts(below.getCommandSpec().usageMessage().description()))));
            });
        }
        if (!spec.usageMessage().exitCodeList().isEmpty()) {
            lines.add(".SH EXIT STATUS");
            spec.usageMessage().exitCodeList().forEach((code, meaning) -> {
                lines.add(".TP");
                lines.add("\\fB" + escaped(code) + "\\fR");
                lines.add(paragraph(meaning));
            });
        }
        List<String> footer = texts(spec.usageMessage().footer());
        if (!footer.isEmpty()) {
            lines.add(".SH EXAMPLES");
            lines.add(".nf");
            footer.stream()
                    .flatMap(String::lines)
                    .filter(line -> !line.isBlank() && !line.matches("Examples?:"))
                    .forEach(line -> lines.add(paragraph(line)));
            lines.add(".fi");
        }
        return String.join("\n", lines) + "\n";
    }

    private String version() {
        String[] version = spec.root().version();
        return version.length == 0 ? "qm" : version[0].replace("\"", "");
    }

    private static void section(List<String> lines, String title, List<String> paragraphs) {
        if (!paragraphs.isEmpty()) {
            lines.add(".SH " + title);
            for (String paragraph : paragraphs) {
                lines.add(".PP");
                lines.add(paragraph(paragraph));
            }
        }
    }

    private static void entries(List<String> lines, String title, List<ArgSpec> arguments) {
        List<ArgSpec> shown = arguments.stream()
                .filter(argument -> !argument.hidden())
                .sorted(Comparator.comparingInt(ManualPage::order))
                .toList();
        if (shown.isEmpty()) {
            return;
        }
        lines.add(".SH " + title);
        for (ArgSpec argument : shown) {
            lines.add(".TP");
            lines.add(label(argument));
            lines.add(paragraph(String.join(" ", texts(argument.description()))
                    .replace("${DEFAULT-VALUE}", String.valueOf(argument.defaultValue()))));
        }
    }

    /** The place among the options; those of every command come last. */
    private static int order(ArgSpec argument) {
        return argument instanceof OptionSpec option ? option.order() : 0;
    }

    private static String label(ArgSpec argument) {
        String value = "\\fI" + escaped(argument.paramLabel()) + "\\fR";
        if (!(argument instanceof OptionSpec option)) {
            return value;
        }
        List<String> names = new ArrayList<>();
        for (String name : option.names()) {
            names.add("\\fB" + escaped(name) + "\\fR");
        }
        return String.join(", ", names) + (option.arity().max() > 0 ? " " + value : "");
    }

    private static List<String> texts(String[] formats) {
        List<String> texts = new ArrayList<>();
        for (String format : formats) {
            String text = Ansi.OFF.string(String.format(format));
            if (!text.isBlank()) {
                texts.add(text);
            }
        }
        return texts;
    }

    /** A line that no macro begins. */
    private static String paragraph(String text) {
        String line = escaped(text);
        return line.startsWith(".") || line.startsWith("'") ? "\\&" + line : line;
    }

    private static String escaped(String text) {
        return text.replace("\\", "\\e").replace("-", "\\-");
    }
}
