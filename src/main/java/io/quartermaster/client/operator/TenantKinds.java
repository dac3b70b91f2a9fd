package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.ServiceReply;
import io.quartermaster.client.documents.FieldComparison;
import io.quartermaster.client.documents.FieldTypes;
import io.quartermaster.client.documents.ObjectKind;
import io.quartermaster.client.documents.PresentObject;
import io.quartermaster.client.documents.StatedObject;
import io.quartermaster.client.output.CommandFailure;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** The kinds of documents of {@code qm tenants apply}. */
final class TenantKinds {

    static final Set<String> AMOUNTS = Set.of("reserved", "limit", "lendable");
    static final Set<String> INSTANTS = Set.of("from", "until", "drainBy");
    static final Set<String> NUMBERS = Set.of("weight", "rank");
    static final Set<String> FLAGS = Set.of("fence");

    static final FieldTypes TYPES = new FieldTypes(NUMBERS, FLAGS, Set.of(), Set.of());

    private static final FieldComparison COMPARISON = new FieldComparison(AMOUNTS, Set.of(), INSTANTS);

    private TenantKinds() {}

    /** @param awaitOperation waits for the operation of an id */
    static List<ObjectKind> all(Consumer<String> awaitOperation) {
        return List.of(new TenantKind(awaitOperation), new AllotmentKind());
    }

    private static Optional<PresentObject> get(ServiceConnection service, String path) {
        ServiceReply reply = service.send("GET", path, Map.of(), null, Map.of());
        return reply.status() == 404
                ? Optional.empty()
                : Optional.of(new PresentObject(ServiceConnection.require(reply).body()));
    }

    /** A tenant is made by an operation. Its plan and its first groups count when it is made. */
    private record TenantKind(Consumer<String> awaitOperation) implements ObjectKind {

        private static final Set<String> UNFINISHED = Set.of("provisioning", "failed");
        private static final Set<String> GONE = Set.of("offboarding", "deleted");

        @Override
        public String word() {
            return "tenant";
        }

        /** A tenant whose provisioning has not succeeded counts as missing: its creation is repeated. */
        @Override
        public Optional<PresentObject> find(ServiceConnection service, StatedObject object) {
            Optional<PresentObject> found = get(service, ServiceConnection.operatorPath("tenants", object.name()));
            String state =
                    found.map(tenant -> tenant.fields().path("state").asText()).orElse("");
            if (GONE.contains(state)) {
                throw CommandFailure.usage(object.origin() + ": tenant " + object.name()
                        + " was offboarded, and its id is never used again");
            }
            return found.filter(tenant -> !UNFINISHED.contains(state));
        }

        @Override
        public Write creation(ServiceConnection service, StatedObject object) {
            return new Write("POST", ServiceConnection.operatorPath("tenants"), object.bodyWith("id"));
        }

        @Override
        public ObjectNode difference(StatedObject object, PresentObject present) {
            ObjectNode stated = object.spec().deepCopy();
            stated.remove("groups");
            ObjectNode difference = COMPARISON.difference(stated, present.fields());
            if (difference.has("plan")) {
                throw CommandFailure.usage(object.origin() + ": tenant " + object.name() + " has the plan "
                        + present.fields().path("plan").asText() + ", which cannot change");
            }
            return difference;
        }

        @Override
        public Write change(ServiceConnection service, StatedObject object, ObjectNode difference) {
            return new Write("PATCH", ServiceConnection.operatorPath("tenants", object.name()), difference);
        }

        @Override
        public void complete(ServiceConnection service, StatedObject object, JsonNode answer) {
            if (answer.has("steps")) {
                awaitOperation.accept(answer.path("id").asText());
            }
        }
    }

    /** The name of an allotment is that of its tenant, a slash, and that of its pool. */
    private record AllotmentKind() implements ObjectKind {

        @Override
        public String word() {
            return "allotment";
        }

        private static String path(StatedObject object) {
            String[] parts = parts(object);
            return ServiceConnection.operatorPath("tenants", parts[0], "allotments", parts[1]);
        }

        private static String[] parts(StatedObject object) {
            String[] parts = object.name().split("/", -1);
            if (parts.length != 2 || parts[0].isEmpty() || parts[1].isEmpty()) {
                throw CommandFailure.usage(
                        object.origin() + ": \"" + object.name()
                                + "\" is not the name of an allotment; accepted: a tenant, a slash and a pool, such as acme/h100");
            }
            return parts;
        }

        @Override
        public Optional<PresentObject> find(ServiceConnection service, StatedObject object) {
            return get(service, path(object));
        }

        @Override
        public Write creation(ServiceConnection service, StatedObject object) {
            return new Write("PUT", path(object), object.spec());
        }

        @Override
        public ObjectNode difference(StatedObject object, PresentObject present) {
            return COMPARISON.difference(object.spec(), present.fields());
        }

        @Override
        public Write change(ServiceConnection service, StatedObject object, ObjectNode difference) {
            return new Write("PATCH", path(object), difference);
        }

        @Override
        public List<String> needs(StatedObject object) {
            return List.of("tenant " + parts(object)[0]);
        }
    }
}
