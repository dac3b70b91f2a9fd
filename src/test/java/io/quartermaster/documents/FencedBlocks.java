package io.quartermaster.documents;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The fenced blocks of a Markdown page. */
final class FencedBlocks {

    private static final String FENCE = "```";

    private FencedBlocks() {}

    /** @param line the line of the page with the block's fence, from 1 */
    record Block(String language, int line, String text) {}

    /** The blocks in the order of the page. */
    static List<Block> of(Path page) throws IOException {
        List<Block> blocks = new ArrayList<>();
        List<String> lines = Files.readAllLines(page);
        for (int i = 0; i < lines.size(); i++) {
            if (lines.get(i).startsWith(FENCE)) {
                int begin = i;
                List<String> text = new ArrayList<>();
                for (i++; !lines.get(i).startsWith(FENCE); i++) {
                    text.add(lines.get(i));
                }
                blocks.add(new Block(
                        lines.get(begin).substring(FENCE.length()).strip(), begin + 1, String.join("\n", text)));
            }
        }
        return List.copyOf(blocks);
    }
}
