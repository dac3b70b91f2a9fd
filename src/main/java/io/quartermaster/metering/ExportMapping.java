package io.quartermaster.metering;

import io.quartermaster.platform.EnumNames;
import java.io.Reader;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.MarkedYAMLException;
import org.yaml.snakeyaml.nodes.MappingNode;
import org.yaml.snakeyaml.nodes.Node;
import org.yaml.snakeyaml.nodes.NodeTuple;
import org.yaml.snakeyaml.nodes.ScalarNode;
import org.yaml.snakeyaml.nodes.SequenceNode;

/** The columns of the usage export, as {@code billing/usage-export.yaml} sets them; that file explains the fields. */
record ExportMapping(List<Column> columns) {

    /** The name of a column and its field. */
    record Column(String name, ExportRecord.Field field) {}

    /** The error for a file that cannot be accepted; the message names the line. */
    static final class InvalidMapping extends IllegalArgumentException {
        private static final long serialVersionUID = 1L;

        InvalidMapping(String file, int line, String reason) {
            super(file + ", line " + line + ": " + reason);
        }
    }

    /** The version of the file that this program reads. */
    private static final String FORMAT = "1";

    /** The names that every CSV reader and every JSON path accepts without quotes. */
    private static final Pattern NAME = Pattern.compile("[A-Za-z][A-Za-z0-9_]{0,63}");

    ExportMapping {
        columns = List.copyOf(columns);
    }

    /** @throws InvalidMapping if the file has an error */
    static ExportMapping parse(String file, String yaml) {
        return new Parser(file).mapping(new StringReader(yaml));
    }

    private record Parser(String file) {

        ExportMapping mapping(Reader yaml) {
            Node root;
            try {
                root = new Yaml(new SafeConstructor(new LoaderOptions())).compose(yaml);
            } catch (MarkedYAMLException e) {
                throw new InvalidMapping(file, e.getProblemMark().getLine() + 1, e.getProblem());
            }
            if (root == null) {
                throw new InvalidMapping(file, 1, "the file is empty");
            }
            Map<String, Node> top = entries(root, Set.of("format", "columns"));
            Node format = value(top, "format");
            if (!text(format).equals(FORMAT)) {
                throw invalid(format, "is not a known format; this program reads format " + FORMAT);
            }
            if (!(value(top, "columns") instanceof SequenceNode list)
                    || list.getValue().isEmpty()) {
                throw invalid(value(top, "columns"), "columns is a list with at least one column");
            }
            List<Column> columns = new ArrayList<>();
            Set<String> names = new HashSet<>();
            for (Node item : list.getValue()) {
                Column column = column(item);
                if (!names.add(column.name())) {
                    throw invalid(item, "two columns have the name " + column.name());
                }
                columns.add(column);
            }
            return new ExportMapping(columns);
        }

        private Column column(Node item) {
            Map<String, Node> entries = entries(item, Set.of("name", "field"));
            String name = text(value(entries, "name"));
            if (!NAME.matcher(name).matches()) {
                throw invalid(
                        item,
                        "\"" + name
                                + "\" is not a valid name: a letter, then letters, digits and _, at most 64 in all");
            }
            String field = text(value(entries, "field"));
            return new Column(
                    name,
                    EnumNames.parse(ExportRecord.Field.class, field)
                            .orElseThrow(() -> invalid(
                                    item,
                                    "there is no field " + field + "; the fields are "
                                            + EnumNames.accepted(ExportRecord.Field.class))));
        }

        private static Node value(Map<String, Node> entries, String key) {
            return Objects.requireNonNull(entries.get(key), key);
        }

        /** The entries of a mapping, which has exactly these keys, each once. */
        private Map<String, Node> entries(Node node, Set<String> keys) {
            if (!(node instanceof MappingNode mapping)) {
                throw invalid(
                        node,
                        "the keys " + String.join(", ", keys.stream().sorted().toList()) + " are expected here");
            }
            Map<String, Node> entries = new HashMap<>();
            for (NodeTuple tuple : mapping.getValue()) {
                String key = text(tuple.getKeyNode());
                if (!keys.contains(key)) {
                    throw invalid(tuple.getKeyNode(), "unknown key " + key);
                }
                if (entries.put(key, tuple.getValueNode()) != null) {
                    throw invalid(tuple.getKeyNode(), key + " is given twice");
                }
            }
            for (String key : keys.stream().sorted().toList()) {
                if (!entries.containsKey(key)) {
                    throw invalid(node, key + " is missing");
                }
            }
            return entries;
        }

        private String text(Node node) {
            if (node instanceof ScalarNode scalar) {
                return scalar.getValue();
            }
            throw invalid(node, "a single value is expected here");
        }

        private InvalidMapping invalid(Node node, String reason) {
            return new InvalidMapping(file, node.getStartMark().getLine() + 1, reason);
        }
    }
}
