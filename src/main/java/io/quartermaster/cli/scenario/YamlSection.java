package io.quartermaster.cli.scenario;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;
import org.yaml.snakeyaml.nodes.Tag;

/**
 * Section of a YAML file: a mapping that is read strictly. The reader takes each value by its key and type, and
 * {@link #close} refuses values that were not read. Errors name the line.
 */
final class YamlSection implements AutoCloseable {
    private static final BigDecimal MAX_NUMBER = BigDecimal.valueOf(1_000_000_000);
    private static final int MAX_COUNT = 1_000_000;

    private final Map<String, Node> values = new LinkedHashMap<>();
    private final int line;

    YamlSection(Node node) {
        this.line = lineOf(node);
        if (!(node instanceof MappingNode mapping)) {
            throw error(node, "a mapping is expected here");
        }
        for (NodeTuple tuple : mapping.getValue()) {
            if (values.put(scalar(tuple.getKeyNode()), tuple.getValueNode()) != null) {
                throw error(tuple.getKeyNode(), "'" + scalar(tuple.getKeyNode()) + "' is given twice");
            }
        }
    }

    static int lineOf(Node node) {
        return node.getStartMark().getLine() + 1;
    }

    static ScenarioSyntaxException error(Node node, String what) {
        return new ScenarioSyntaxException(lineOf(node), what);
    }

    ScenarioSyntaxException error(String what) {
        return new ScenarioSyntaxException(line, what);
    }

    int line() {
        return line;
    }

    /** Refuses keys that were not read. */
    @Override
    public void close() {
        for (Map.Entry<String, Node> unknown : values.entrySet()) {
            throw error(unknown.getValue(), "unknown key '" + unknown.getKey() + "'");
        }
    }

    /** Makes a value from this section; an error of the maker names the line of the section. */
    <T> T create(Supplier<T> maker) {
        try {
            return maker.get();
        } catch (IllegalArgumentException | ArithmeticException e) {
            throw error(String.valueOf(e.getMessage()));
        }
    }

    boolean has(String key) {
        return values.containsKey(key);
    }

    Optional<Node> consume(String key) {
        return Optional.ofNullable(values.remove(key));
    }

    Optional<String> text(String key) {
        return consume(key).map(YamlSection::scalar);
    }

    String requiredText(String key) {
        return text(key).orElseThrow(() -> error("'" + key + "' is missing"));
    }

    Optional<Boolean> flag(String key) {
        return consume(key).map(node -> switch (scalar(node)) {
            case "true" -> true;
            case "false" -> false;
            default -> throw error(node, "'" + key + "' must be true or false");
        });
    }

    /** A count from 1 to a million. */
    OptionalInt count(String key) {
        OptionalInt count = integer(key);
        if (count.isPresent() && (count.getAsInt() < 1 || count.getAsInt() > MAX_COUNT)) {
            throw error("'" + key + "' must be 1 to " + MAX_COUNT + ", not " + count.getAsInt());
        }
        return count;
    }

    OptionalInt integer(String key) {
        Optional<Integer> value = consume(key).map(node -> {
            try {
                return Integer.parseInt(scalar(node));
            } catch (NumberFormatException e) {
                throw error(node, "'" + key + "' must be a whole number, not '" + scalar(node) + "'");
            }
        });
        return value.isPresent() ? OptionalInt.of(value.get()) : OptionalInt.empty();
    }

    /** A decimal with at most three places, in thousandths. */
    OptionalLong milli(String key) {
        Optional<Long> value = consume(key).map(YamlSection::milli);
        return value.isPresent() ? OptionalLong.of(value.get()) : OptionalLong.empty();
    }

    static long milli(Node node) {
        try {
            BigDecimal number = new BigDecimal(scalar(node));
            if (number.abs().compareTo(MAX_NUMBER) > 0) {
                throw error(
                        node,
                        "a number up to " + MAX_NUMBER.toPlainString() + " is expected, not '" + scalar(node) + "'");
            }
            return number.movePointRight(3).longValueExact();
        } catch (ArithmeticException | NumberFormatException e) {
            throw error(node, "a number with at most three decimal places is expected, not '" + scalar(node) + "'");
        }
    }

    OptionalLong duration(String key) {
        Optional<Long> value = consume(key).map(YamlSection::millis);
        return value.isPresent() ? OptionalLong.of(value.get()) : OptionalLong.empty();
    }

    /** A duration that is not negative. */
    OptionalLong length(String key) {
        return durationFrom(0, key, "a duration that is not negative");
    }

    /** A duration of more than 0. */
    OptionalLong positiveLength(String key) {
        return durationFrom(1, key, "a duration of more than 0");
    }

    private OptionalLong durationFrom(long leastMillis, String key, String accepted) {
        Node node = values.get(key);
        OptionalLong millis = duration(key);
        if (node != null && millis.orElse(leastMillis) < leastMillis) {
            throw error(node, "'" + key + "' must be " + accepted + ", not '" + scalar(node) + "'");
        }
        return millis;
    }

    /** A duration such as {@code 90s}, {@code -10m} or {@code 0.5s}, in milliseconds. */
    static long millis(Node node) {
        String text = scalar(node);
        long unit = text.isEmpty()
                ? 0
                : switch (text.charAt(text.length() - 1)) {
                    case 's' -> 1_000;
                    case 'm' -> 60_000;
                    case 'h' -> 3_600_000;
                    case 'd' -> 86_400_000;
                    default -> 0;
                };
        try {
            if (unit == 0) {
                throw new NumberFormatException();
            }
            return new BigDecimal(text.substring(0, text.length() - 1))
                    .multiply(BigDecimal.valueOf(unit))
                    .longValueExact();
        } catch (ArithmeticException | NumberFormatException e) {
            throw error(node, "a duration such as 90s, 10m, 2h or 1d is expected, not '" + text + "'");
        }
    }

    /** An amount of memory in MiB. */
    OptionalLong memory(String key) {
        Optional<Long> value = consume(key).map(node -> {
            String text = scalar(node);
            long unit = text.endsWith("GiB") ? 1024 : text.endsWith("MiB") ? 1 : text.endsWith("TiB") ? 1 << 20 : 0;
            try {
                if (unit == 0) {
                    throw new NumberFormatException();
                }
                return new BigDecimal(text.substring(0, text.length() - 3))
                        .multiply(BigDecimal.valueOf(unit))
                        .longValueExact();
            } catch (ArithmeticException | NumberFormatException e) {
                throw error(node, "an amount of memory such as 80GiB is expected, not '" + text + "'");
            }
        });
        return value.isPresent() ? OptionalLong.of(value.get()) : OptionalLong.empty();
    }

    /** The elements of a list; a single value counts as a list of one, no value as none. */
    List<Node> list(String key) {
        return consume(key).map(YamlSection::elements).orElse(List.of());
    }

    static List<Node> elements(Node node) {
        if (node instanceof SequenceNode sequence) {
            return sequence.getValue();
        }
        return node.getTag().equals(Tag.NULL) ? List.of() : List.of(node);
    }

    List<String> texts(String key) {
        List<String> texts = new ArrayList<>();
        list(key).forEach(node -> texts.add(scalar(node)));
        return texts;
    }

    List<YamlSection> sections(String key) {
        List<YamlSection> sections = new ArrayList<>();
        list(key).forEach(node -> sections.add(new YamlSection(node)));
        return sections;
    }

    Optional<YamlSection> section(String key) {
        return consume(key).map(YamlSection::new);
    }

    /** The entries of a mapping in the order of the file; none if the key is absent. */
    Map<String, Node> entries(String key) {
        return section(key).map(YamlSection::consumeAll).orElse(Map.of());
    }

    private Map<String, Node> consumeAll() {
        Map<String, Node> all = new LinkedHashMap<>(values);
        values.clear();
        return all;
    }

    SortedMap<String, String> labels(String key) {
        SortedMap<String, String> labels = new TreeMap<>();
        entries(key).forEach((name, node) -> labels.put(name, scalar(node)));
        return labels;
    }

    /** One of an enum's names, written in lower case with hyphens. */
    <E extends Enum<E>> Optional<E> choice(String key, Class<E> type) {
        return consume(key).map(node -> choice(node, type));
    }

    static <E extends Enum<E>> E choice(Node node, Class<E> type) {
        List<String> names = new ArrayList<>();
        for (E constant : type.getEnumConstants()) {
            String name = constant.name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
            if (name.equals(scalar(node)) || constant.name().equals(scalar(node))) {
                return constant;
            }
            names.add(name);
        }
        throw error(node, "one of " + String.join(", ", names) + " is expected, not '" + scalar(node) + "'");
    }

    static String scalar(Node node) {
        if (node instanceof ScalarNode scalar) {
            return scalar.getValue();
        }
        throw error(node, "a single value is expected here");
    }
}
