package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Map;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** A valid body for every operation that takes one. Ids of a {@link World} stand in braces. */
final class Bodies {

    private static final String RESOURCE = "/contract/examples.yaml";
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Object> BY_OPERATION = load();

    private Bodies() {}

    /** The body of an operation. Fails when there is none, so that each new route comes with its body. */
    static JsonNode of(Contract.Call call, World world) {
        Object body = BY_OPERATION.get(call.id());
        assertThat(body)
                .as("%s takes a body: put one that is accepted into src/main/resources%s", call, RESOURCE)
                .isNotNull();
        try {
            return JSON.readTree(world.fill(JSON.writeValueAsString(body)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The body as text; empty for an operation without one. */
    static String text(Contract.Call call, World world) {
        return call.takesBody() ? of(call, world).toString() : "";
    }

    private static Map<String, Object> load() {
        try (InputStream in = Bodies.class.getResourceAsStream(RESOURCE)) {
            return new Yaml(new SafeConstructor(new LoaderOptions())).load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
