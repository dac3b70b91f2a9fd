package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.connection.ServiceConnection;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** A kind whose objects are found in one list, which is read once. */
public abstract class ListedKind implements ObjectKind {

    private @Nullable Map<String, JsonNode> known;

    protected ListedKind() {}

    /** The path of the list. */
    protected abstract String listPath(ServiceConnection service);

    /** The field with the name of an object. */
    protected String nameField() {
        return "name";
    }

    @Override
    public final Optional<PresentObject> find(ServiceConnection service, StatedObject object) {
        Map<String, JsonNode> all = known;
        if (all == null) {
            all = new HashMap<>();
            for (JsonNode item : service.items(listPath(service), Map.of(), Integer.MAX_VALUE)) {
                all.put(item.path(nameField()).asText(), item);
            }
            known = all;
        }
        return Optional.ofNullable(all.get(object.name())).map(PresentObject::new);
    }

    @Override
    public final void refresh() {
        known = null;
    }
}
