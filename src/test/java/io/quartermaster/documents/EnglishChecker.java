package io.quartermaster.documents;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Checker of the texts in the repository: words that are not used, the length of sentences, the length of lines.
 *
 * <p>It reads the Markdown pages, the comments and messages of the program, the comments of the tests, the contract
 * and the files in {@code deploy}. As a program it prints what it finds below the paths that it gets:
 * {@code java src/test/java/io/quartermaster/documents/EnglishChecker.java src/main/java/io/quartermaster/ledger}.
 */
public final class EnglishChecker {

    /** The longest sentence, in words. A colon or a semicolon ends one, as a full stop does. */
    static final int MAX_WORDS = 25;
    /** The longest line of comments and documents, in characters. */
    static final int MAX_COLUMNS = 120;
    /** The longest line with a string literal, in characters: the formatter does not break literals. */
    static final int MAX_LITERAL_COLUMNS = 160;

    private static final Path BANNED = Path.of("src/test/resources/english/banned.txt");
    private static final List<String> ROOTS = List.of(
            "docs",
            "src/main",
            "src/test/java",
            "benchmarks",
            "clients/python/README.md",
            "deploy",
            "k8s",
            "tenants",
            "openapi",
            ".github");

    /** Sentences that begin with a pronoun where the subject should stand. */
    private static final Pattern BAD_START = Pattern.compile("^(Who|Whoever|Whatever|What is|What was)\\b");

    private static final Pattern JAVA_PARTS = Pattern.compile(
            "\"\"\".*?\"\"\"|/\\*.*?\\*/|(?:[ \\t]*//[^\\n]*\\n)+|'(?:\\\\.|[^'\\\\\\n])'|\"(?:\\\\.|[^\"\\\\\\n])*\"",
            Pattern.DOTALL);
    private static final Pattern CONCATENATED = Pattern.compile("\\G\\s*\\+\\s*\"((?:\\\\.|[^\"\\\\\\n])*)\"");
    private static final Pattern FENCE = Pattern.compile("^\\s*```");
    private static final Pattern SENTENCE_END = Pattern.compile("(?<=[.!?:;])[\\s\"')\\]]+|\\n\\s*\\n");
    private static final Pattern SQL = Pattern.compile(
            "^\\s*(select|insert|update|delete|with|create|alter|from|where|and|or|join|left join|order by|on conflict|set|values|grant|returning|union)\\b.*",
            Pattern.DOTALL);

    private final Map<Pattern, String> banned =
            new TreeMap<>((a, b) -> a.pattern().compareTo(b.pattern()));
    private final List<String> findings = new ArrayList<>();

    EnglishChecker(List<String> rules) {
        for (String rule : rules) {
            if (rule.isBlank() || rule.startsWith("#")) {
                continue;
            }
            String[] parts = rule.split(" => ", 2);
            banned.put(
                    Pattern.compile(
                            "(?<![\\w-])(" + parts[0].replace(" ", "\\s+") + ")(?![\\w-])", Pattern.CASE_INSENSITIVE),
                    parts[1]);
        }
    }

    /** Prints the findings below the given paths, or everywhere, and exits with 1 if there are any. */
    public static void main(String... paths) throws IOException {
        List<String> findings = check(paths.length == 0 ? everything() : below(List.of(paths)));
        findings.forEach(System.out::println);
        System.out.println(findings.size() + " findings");
        System.exit(findings.isEmpty() ? 0 : 1);
    }

    /** The findings in the given files, in the order of the files. */
    static List<String> check(List<Path> files) throws IOException {
        EnglishChecker checker = new EnglishChecker(Files.readAllLines(BANNED));
        for (Path file : files) {
            checker.checkFile(file, Files.readString(file));
        }
        return checker.findings;
    }

    /** Every file whose texts are checked. */
    static List<Path> everything() throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> root = Files.list(Path.of(""))) {
            root.filter(Files::isRegularFile)
                    .filter(EnglishChecker::isText)
                    .sorted()
                    .forEach(files::add);
        }
        files.addAll(below(ROOTS));
        return files;
    }

    private static List<Path> below(List<String> roots) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String root : roots) {
            if (Files.exists(Path.of(root))) {
                try (Stream<Path> walk = Files.walk(Path.of(root))) {
                    walk.filter(Files::isRegularFile)
                            .filter(EnglishChecker::isText)
                            .sorted()
                            .forEach(files::add);
                }
            }
        }
        return files;
    }

    private static boolean isText(Path file) {
        String name = file.getFileName().toString();
        return Stream.of(".md", ".java", ".yaml", ".yml", ".properties", ".sql", ".lua")
                        .anyMatch(name::endsWith)
                && !file.startsWith("src/main/resources/db/migration")
                // The contract of the last release stays as it was; openapi.yaml repeats descriptions that are checked.
                && !file.startsWith("openapi");
    }

    /** Checks one file's text; the name decides what of it is prose. */
    List<String> checkFile(Path file, String text) {
        String name = file.toString();
        if (name.endsWith(".java")) {
            checkColumns(file, text, false);
            checkJava(file, text);
        } else if (name.endsWith(".md")) {
            checkColumns(file, text, true);
            checkMarkdown(file, text);
        } else {
            checkLines(file, text);
        }
        return findings;
    }

    private void checkColumns(Path file, String text, boolean markdown) {
        boolean fenced = false;
        int line = 0;
        for (String each : text.split("\n", -1)) {
            line++;
            if (markdown && FENCE.matcher(each).find()) {
                fenced = !fenced;
            }
            boolean exempt =
                    markdown && (fenced || each.startsWith("|") || each.contains("](") || each.startsWith("#"));
            int limit = markdown || isComment(each) ? MAX_COLUMNS : MAX_LITERAL_COLUMNS;
            if (each.length() > limit && !exempt && !isOneLongWord(each)) {
                findings.add(file + ":" + line + ": line of " + each.length() + " characters, at most " + limit);
            }
        }
    }

    private static boolean isComment(String line) {
        String stripped = line.stripLeading();
        return stripped.startsWith("*") || stripped.startsWith("/");
    }

    private static boolean isOneLongWord(String line) {
        return Stream.of(line.strip().split("\\s+")).anyMatch(word -> word.length() > MAX_COLUMNS - 20);
    }

    private void checkJava(Path file, String text) {
        boolean test = file.startsWith("src/test");
        Matcher parts = JAVA_PARTS.matcher(text);
        int from = 0;
        while (parts.find(from)) {
            String part = parts.group();
            int line = lineOf(text, parts.start());
            from = parts.end();
            if (part.startsWith("/*")) {
                checkProse(file, line, javadoc(part));
            } else if (part.stripLeading().startsWith("//")) {
                checkProse(file, line, part.replaceAll("(?m)^\\s*//+", ""));
            } else if (part.startsWith("\"") && !part.startsWith("\"\"\"") && !test) {
                StringBuilder message = new StringBuilder(part.substring(1, part.length() - 1));
                Matcher next = CONCATENATED.matcher(text);
                while (next.find(from)) {
                    message.append(next.group(1));
                    from = next.end();
                }
                if (isProse(message.toString())) {
                    checkProse(file, line, message.toString().replace("\\n", "\n"));
                }
            }
        }
    }

    private static boolean isProse(String message) {
        return message.chars().filter(c -> c == ' ').count() >= 2
                && !SQL.matcher(message).matches();
    }

    private static String javadoc(String comment) {
        return comment.replaceAll("(?m)^\\s*(/\\*+|\\*+/|\\*)", "")
                .replace("*/", "")
                .replaceAll("(?s)<pre>.*?</pre>", "")
                .replaceAll("(?s)\\{@(?:link|linkplain)\\s+[^\\s}]+\\s+([^}]*)}", "$1")
                .replaceAll("(?s)\\{@\\w+\\s+[^}]*}", "X")
                .replaceAll("</?(p|li|ul|ol|table|tr|td|th)[^>]*>", "\n\n")
                .replaceAll("@(param|return|throws|see)\\b", "\n\n");
    }

    private void checkMarkdown(Path file, String text) {
        StringBuilder paragraph = new StringBuilder();
        boolean fenced = false;
        int line = 0;
        int start = 1;
        for (String each : text.split("\n", -1)) {
            line++;
            boolean fence = FENCE.matcher(each).find();
            boolean breaks = fence || fenced || each.isBlank() || each.matches("\\s*([-*]|\\d+\\.|#+|>|\\|).*");
            if (breaks) {
                checkProse(file, start, paragraph.toString());
                paragraph.setLength(0);
                start = line;
            }
            if (fence) {
                fenced = !fenced;
            } else if (!fenced) {
                paragraph.append(markdownText(each)).append('\n');
            }
        }
        checkProse(file, start, paragraph.toString());
    }

    private static String markdownText(String line) {
        return line.replaceAll("`[^`]*`", "X")
                .replaceAll("]\\([^)]*\\)", "]")
                .replaceAll("^\\s*([-*>]|\\d+\\.|#+)\\s", "")
                .replace("|", " . \n\n");
    }

    /** Checks words of YAML, properties and scripts; their folded texts have no sentence ends to rely on. */
    private void checkLines(Path file, String text) {
        int line = 0;
        for (String each : text.split("\n", -1)) {
            line++;
            checkWords(file, line, each);
        }
    }

    private void checkProse(Path file, int line, String prose) {
        checkWords(file, line, prose);
        int at = 0;
        Matcher ends = SENTENCE_END.matcher(prose);
        List<int[]> sentences = new ArrayList<>();
        while (ends.find()) {
            sentences.add(new int[] {at, ends.start()});
            at = ends.end();
        }
        sentences.add(new int[] {at, prose.length()});
        for (int[] range : sentences) {
            String sentence = prose.substring(range[0], range[1]).strip();
            int words = sentence.isEmpty() ? 0 : sentence.split("\\s+").length;
            int where = line + count(prose.substring(0, range[0] + leading(prose, range)), '\n');
            if (words > MAX_WORDS) {
                findings.add(file + ":" + where + ": sentence of " + words + " words, at most " + MAX_WORDS + ": "
                        + shorten(sentence));
            }
            if (BAD_START.matcher(sentence).find()) {
                findings.add(file + ":" + where + ": begin with the subject: " + shorten(sentence));
            }
        }
    }

    private static int leading(String prose, int[] range) {
        int at = range[0];
        while (at < range[1] && Character.isWhitespace(prose.charAt(at))) {
            at++;
        }
        return at - range[0];
    }

    private void checkWords(Path file, int line, String prose) {
        banned.forEach((pattern, advice) -> {
            Matcher words = pattern.matcher(prose);
            while (words.find()) {
                int where = line + count(prose.substring(0, words.start()), '\n');
                findings.add(file + ":" + where + ": \""
                        + words.group().toLowerCase(Locale.ROOT).replaceAll("\\s+", " ") + "\": " + advice);
            }
        });
    }

    private static String shorten(String sentence) {
        String line = sentence.replaceAll("\\s+", " ");
        return line.length() <= 70 ? line : line.substring(0, 67) + "...";
    }

    private static int lineOf(String text, int offset) {
        return 1 + count(text.substring(0, offset), '\n');
    }

    private static int count(String text, char c) {
        return (int) text.chars().filter(each -> each == c).count();
    }
}
