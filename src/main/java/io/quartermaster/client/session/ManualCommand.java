package io.quartermaster.client.session;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import io.quartermaster.client.output.ExitStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** {@code qm manual}: writes manual pages. */
@Command(
        name = "manual",
        description = {
            "Writes the manual pages of all commands into a folder, with the text of their help.",
            "man finds them in a folder man1 of its path; the page of qm apply is qm-apply."
        },
        footer = {"%nExample:%n", "  qm manual ~/.local/share/man/man1"})
final class ManualCommand extends PersonCommand {

    @Parameters(paramLabel = "FOLDER", description = "Folder of the pages; it is made if it does not exist")
    private Path folder = Path.of("");

    private final Supplier<CommandLine> whole;

    ManualCommand(ClientEnvironment environment, Supplier<CommandLine> whole) {
        super(environment);
        this.whole = whole;
    }

    @Override
    protected ExitStatus run() {
        List<ManualPage> pages = new ArrayList<>();
        collect(whole.get(), pages);
        List<String> files = new ArrayList<>();
        try {
            Files.createDirectories(folder);
            for (ManualPage page : pages) {
                Path file = folder.resolve(page.name() + ".1");
                Files.writeString(file, page.text());
                files.add(file.toString());
            }
        } catch (IOException e) {
            throw CommandFailure.usage("cannot write the pages into " + folder + ": " + e);
        }
        ObjectNode document = DocumentWriter.JSON.createObjectNode();
        ArrayNode items = document.putArray("items");
        files.forEach(file -> items.addObject().put("file", file));
        print(document, files, () -> out().println(files.size() + " pages are in " + folder + "."));
        return ExitStatus.OK;
    }

    private static void collect(CommandLine command, List<ManualPage> pages) {
        pages.add(new ManualPage(command));
        command.getSubcommands().forEach((name, below) -> {
            if (!name.equals("help")) {
                collect(below, pages);
            }
        });
    }
}
