package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.documents.ListedKind;
import io.quartermaster.client.documents.ObjectKind;
import io.quartermaster.client.documents.PresentObject;
import io.quartermaster.client.documents.StatedObject;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import java.util.List;

/** The kinds of rules that documents state. */
final class RuleKinds {

    private RuleKinds() {}

    /** In the order in which their objects are made: each kind rests on those before it. */
    static List<ObjectKind> all() {
        return List.of(new GroupKind(), new ProfileKind(), new PolicyKind(), new QueueKind(), new AccessRuleKind());
    }

    private static final class GroupKind extends ListedKind {
        @Override
        public String word() {
            return "group";
        }

        @Override
        protected String listPath(ServiceConnection service) {
            return service.path("groups");
        }

        @Override
        protected String nameField() {
            return "path";
        }

        @Override
        public Write creation(ServiceConnection service, StatedObject object) {
            requireNoFields(object);
            return new Write("POST", service.path("groups"), object.bodyWith("path"));
        }

        @Override
        public ObjectNode difference(StatedObject object, PresentObject present) {
            requireNoFields(object);
            return DocumentWriter.JSON.createObjectNode();
        }

        private static void requireNoFields(StatedObject object) {
            if (!object.spec().isEmpty()) {
                throw CommandFailure.usage(
                        object.origin() + ": group " + object.name() + " has a name, its path, and no spec");
            }
        }

        @Override
        public Write change(ServiceConnection service, StatedObject object, ObjectNode difference) {
            throw new IllegalStateException("a group has no field that changes");
        }
    }

    private static final class ProfileKind extends ListedKind {
        @Override
        public String word() {
            return "profile";
        }

        @Override
        protected String listPath(ServiceConnection service) {
            return service.path("profiles");
        }

        @Override
        public Write creation(ServiceConnection service, StatedObject object) {
            return new Write("POST", service.path("profiles"), object.bodyWith("name"));
        }

        @Override
        public ObjectNode difference(StatedObject object, PresentObject present) {
            return RuleFields.COMPARISON.difference(object.spec(), present.fields());
        }

        @Override
        public Write change(ServiceConnection service, StatedObject object, ObjectNode difference) {
            return new Write("PATCH", service.path("profiles", object.name()), difference);
        }
    }

    private static final class QueueKind extends ListedKind {
        private static final List<String> FIXED = List.of("policy", "profile");

        @Override
        public String word() {
            return "queue";
        }

        @Override
        protected String listPath(ServiceConnection service) {
            return service.path("queues");
        }

        @Override
        public Write creation(ServiceConnection service, StatedObject object) {
            return new Write("POST", service.path("queues"), object.bodyWith("name"));
        }

        @Override
        public ObjectNode difference(StatedObject object, PresentObject present) {
            ObjectNode difference = RuleFields.COMPARISON.difference(object.spec(), present.fields());
            for (String field : FIXED) {
                if (difference.has(field)) {
                    throw CommandFailure.usage(object.origin() + ": queue " + object.name() + " has the " + field + " "
                            + present.fields().path(field).asText() + ", which cannot change; give the queue for "
                            + object.text(field) + " another name");
                }
            }
            return difference;
        }

        @Override
        public Write change(ServiceConnection service, StatedObject object, ObjectNode difference) {
            return new Write("PATCH", service.path("queues", object.name()), difference);
        }

        @Override
        public List<String> needs(StatedObject object) {
            return List.of("policy " + object.text("policy"), "profile " + object.text("profile"));
        }
    }
}
