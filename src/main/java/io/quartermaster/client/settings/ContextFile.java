package io.quartermaster.client.settings;

import io.quartermaster.client.output.CommandFailure;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.yaml.snakeyaml.DumperOptions;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import org.yaml.snakeyaml.error.YAMLException;

/** The contexts of a person, in {@code config.yaml}. */
public final class ContextFile {

    private static final String CURRENT = "current";
    private static final String CONTEXTS = "contexts";
    private static final String SERVER = "server";
    private static final String TENANT = "tenant";

    private final PrivateFile file;

    public ContextFile(Path folder) {
        this.file = new PrivateFile(folder.resolve("config.yaml"));
    }

    /**
     * All contexts, by name in the order of the file.
     *
     * @param current the name of the context in use; null if none is
     */
    public record Contexts(@Nullable String current, Map<String, ServerContext> byName) {
        public Contexts {
            byName = Map.copyOf(byName);
        }

        public Optional<ServerContext> find(String name) {
            return Optional.ofNullable(byName.get(name));
        }

        public Optional<ServerContext> currentContext() {
            return current == null ? Optional.empty() : find(current);
        }

        /** The contexts in the order of their names. */
        public List<ServerContext> sorted() {
            return byName.values().stream()
                    .sorted(java.util.Comparator.comparing(ServerContext::name))
                    .toList();
        }
    }

    public Path path() {
        return file.path();
    }

    public Contexts read() {
        return file.read().map(this::parse).orElse(new Contexts(null, Map.of()));
    }

    /** Adds the context, or replaces the one of that name. It is then current if asked to, or if there was none. */
    public void put(ServerContext context, boolean use) {
        change(now -> {
            Map<String, ServerContext> next = new LinkedHashMap<>(now.byName());
            next.put(context.name(), context);
            return new Contexts(use || now.current() == null ? context.name() : now.current(), next);
        });
    }

    /** Makes a known context the current one. */
    public void use(String name) {
        change(now -> {
            requireKnown(now, name);
            return new Contexts(name, now.byName());
        });
    }

    public void remove(String name) {
        change(now -> {
            requireKnown(now, name);
            Map<String, ServerContext> next = new LinkedHashMap<>(now.byName());
            next.remove(name);
            return new Contexts(name.equals(now.current()) ? null : now.current(), next);
        });
    }

    /** Fails with a message that lists the known names. */
    public static ServerContext requireKnown(Contexts contexts, String name) {
        return contexts.find(name)
                .orElseThrow(() -> CommandFailure.usage("there is no context " + name + "; "
                        + (contexts.byName().isEmpty()
                                ? "add one with qm context add"
                                : "known contexts: "
                                        + String.join(
                                                ", ",
                                                contexts.sorted().stream()
                                                        .map(ServerContext::name)
                                                        .toList()))));
    }

    private void change(java.util.function.UnaryOperator<Contexts> change) {
        file.locked(() -> {
            file.write(dump(change.apply(read())));
            return null;
        });
    }

    private static String dump(Contexts contexts) {
        Map<String, Object> root = new LinkedHashMap<>();
        if (contexts.current() != null) {
            root.put(CURRENT, contexts.current());
        }
        Map<String, Object> all = new LinkedHashMap<>();
        for (ServerContext context : contexts.sorted()) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put(SERVER, context.server().toString());
            one.put(TENANT, context.tenant());
            all.put(context.name(), one);
        }
        root.put(CONTEXTS, all);
        DumperOptions options = new DumperOptions();
        options.setDefaultFlowStyle(DumperOptions.FlowStyle.BLOCK);
        return new Yaml(options).dump(root);
    }

    private Contexts parse(String text) {
        try {
            Object read = new Yaml(new SafeConstructor(new LoaderOptions())).load(text);
            Map<?, ?> root = read == null ? Map.of() : map(read, "the file");
            requireKeys(root, Set.of(CURRENT, CONTEXTS), "the file");
            Map<String, ServerContext> byName = new LinkedHashMap<>();
            Object contexts = root.get(CONTEXTS);
            for (Map.Entry<?, ?> entry :
                    (contexts == null ? Map.<Object, Object>of() : map(contexts, CONTEXTS)).entrySet()) {
                String name = String.valueOf(entry.getKey());
                Map<?, ?> one = map(entry.getValue(), "context " + name);
                requireKeys(one, Set.of(SERVER, TENANT), "context " + name);
                byName.put(name, new ServerContext(name, URI.create(text(one, SERVER, name)), text(one, TENANT, name)));
            }
            Object current = root.get(CURRENT);
            return new Contexts(current == null ? null : current.toString(), byName);
        } catch (YAMLException | IllegalArgumentException e) {
            throw CommandFailure.usage(file.path() + " cannot be used: " + firstLine(e.getMessage()));
        }
    }

    private static String firstLine(@Nullable String message) {
        return Objects.requireNonNullElse(message, "unknown form")
                .lines()
                .findFirst()
                .orElse("unknown form");
    }

    private static Map<?, ?> map(@Nullable Object value, String where) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException(where + " is not a mapping");
    }

    private static void requireKeys(Map<?, ?> map, Set<String> known, String where) {
        List<String> unknown = new ArrayList<>();
        map.keySet().stream()
                .map(String::valueOf)
                .filter(key -> !known.contains(key))
                .forEach(unknown::add);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(where + " has the unknown key " + unknown.getFirst() + "; known keys: "
                    + String.join(", ", known.stream().sorted().toList()));
        }
    }

    private static String text(Map<?, ?> map, String key, String name) {
        Object value = map.get(key);
        if (value == null) {
            throw new IllegalArgumentException("context " + name + " has no " + key);
        }
        return value.toString();
    }
}
