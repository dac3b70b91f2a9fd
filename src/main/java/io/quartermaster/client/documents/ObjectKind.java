package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import java.util.List;
import java.util.Optional;

/** A kind of objects that documents state: how they are found, created and changed. */
public interface ObjectKind {

    /** A request that writes an object. */
    record Write(String method, String path, ObjectNode body) {}

    /** The name of the kind in documents, such as {@code policy}. */
    String word();

    /** Receives all objects of the plan, also those of other kinds, before any other call. */
    default void prepare(List<StatedObject> all) {}

    /** The object's name in texts for people; with the kind, no two objects have the same. */
    default String label(StatedObject object) {
        return object.name();
    }

    /** The object that the service has now. An implementation may read all objects of the kind once. */
    Optional<PresentObject> find(ServiceConnection service, StatedObject object);

    /** Forgets what was read, so that the next search asks the service again. */
    default void refresh() {}

    Write creation(ServiceConnection service, StatedObject object);

    /** The fields of a merge patch that makes the present object what is stated; empty if it is so already. */
    ObjectNode difference(StatedObject object, PresentObject present);

    /** The fields of a present object in the form of a difference. */
    default JsonNode comparable(PresentObject present) {
        return present.fields();
    }

    Write change(ServiceConnection service, StatedObject object, ObjectNode difference);

    /** The objects that have to exist first, each as its kind, a space, and its label. */
    default List<String> needs(StatedObject object) {
        return List.of();
    }

    /** Whether a change can retire queues, so that the service asks what becomes of their waiting work. */
    default boolean touchesWaitingWork() {
        return false;
    }

    /** Does what remains after the service took a creation, such as waiting for an operation. */
    default void complete(ServiceConnection service, StatedObject object, JsonNode answer) {}
}
