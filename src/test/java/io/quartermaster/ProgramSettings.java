package io.quartermaster;

import io.smallrye.config.ConfigMappings;
import io.smallrye.config.ConfigMappings.ConfigClass;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Every key that the program's {@code @ConfigMapping} interfaces read, from the compiled classes and their Javadoc. */
public final class ProgramSettings {

    private static final Path SOURCES = Path.of("src/main/java");
    private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(?<text>.*?)\\*/", Pattern.DOTALL);

    private ProgramSettings() {}

    /**
     * One key.
     *
     * @param meaning the Javadoc of its method as one line; empty when there is none
     */
    public record Setting(String key, Optional<String> defaultValue, String meaning) {

        /** The variable that sets it, as MicroProfile Config derives it. */
        public String environmentName() {
            return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
        }
    }

    /** All settings, in the order of their keys. */
    public static List<Setting> all() {
        List<Setting> settings = new ArrayList<>();
        for (Path file : mappings()) {
            String source = textOf(file);
            ConfigMappings.getProperties(ConfigClass.configClass(classOf(file))).forEach((key, property) -> {
                // The mapping names a list a second time, for its elements.
                if (!key.endsWith("[*]")) {
                    settings.add(new Setting(
                            key,
                            Optional.ofNullable(property.hasDefaultValue() ? property.getDefaultValue() : null),
                            meaningOf(property.getMethod().getName(), source)));
                }
            });
        }
        settings.sort(Comparator.comparing(Setting::key));
        return List.copyOf(settings);
    }

    private static List<Path> mappings() {
        try (Stream<Path> files = Files.walk(SOURCES)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .filter(file -> textOf(file).contains("@ConfigMapping("))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Class<?> classOf(Path file) {
        String name = SOURCES.relativize(file).toString().replace('/', '.').replaceAll("\\.java$", "");
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String textOf(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The last comment that ends before the method. */
    private static String meaningOf(String method, String source) {
        Matcher declaration = Pattern.compile("\\b" + method + "\\(\\);").matcher(source);
        if (!declaration.find()) {
            return "";
        }
        String whole = source.substring(0, declaration.start());
        int comment = whole.lastIndexOf("/**");
        String between = comment < 0 ? "" : whole.substring(whole.indexOf("*/", comment));
        if (comment < 0 || between.contains("();")) {
            return "";
        }
        Matcher text = JAVADOC.matcher(whole.substring(comment));
        return text.find() ? plain(text.group("text")) : "";
    }

    private static String plain(String javadoc) {
        return javadoc.replaceAll("(?m)^\\s*\\*", " ")
                .replaceAll("\\{@code ([^}]*)}", "`$1`")
                .replaceAll("\\{@link #?([^}(]*)(\\(\\))?}", "`$1`")
                .replace("|", "\\|")
                .replaceAll("\\s+", " ")
                .strip();
    }
}
