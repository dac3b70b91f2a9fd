package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.connection.ServiceReply;
import io.quartermaster.client.documents.ObjectKind;
import io.quartermaster.client.documents.PresentObject;
import io.quartermaster.client.documents.StatedObject;
import io.quartermaster.client.output.DocumentWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The access rules of queues. The name of a document is that of the queue, so several documents may have the same; the
 * subject distinguishes them.
 */
final class AccessRuleKind implements ObjectKind {

    private static final String RULES = "access-rules";

    private final Map<String, List<JsonNode>> known = new HashMap<>();

    /** The policies that make queues by their profiles, by the name of the queue. */
    private final Map<String, String> makers = new HashMap<>();

    @Override
    public void prepare(List<StatedObject> all) {
        for (StatedObject policy : all) {
            if (policy.kind().equals("policy")) {
                policy.spec()
                        .path("profiles")
                        .forEach(profile -> makers.put(policy.name() + "-" + profile.asText(), policy.name()));
            }
        }
    }

    @Override
    public String word() {
        return "access-rule";
    }

    @Override
    public String label(StatedObject object) {
        return object.name() + " for " + subject(object.spec());
    }

    /** The subject of a rule, such as {@code group /research}. Everyone needs no further name. */
    private static String subject(JsonNode rule) {
        String kind = rule.path("subjectKind").asText();
        return kind.equals("everyone")
                ? kind
                : kind + " " + rule.path("subject").asText();
    }

    @Override
    public Optional<PresentObject> find(ServiceConnection service, StatedObject object) {
        return known.computeIfAbsent(object.name(), queue -> rules(service, queue)).stream()
                .filter(rule -> subject(rule).equals(subject(object.spec())))
                .findFirst()
                .map(PresentObject::new);
    }

    /** The rules of a queue; none if there is no such queue, which a plan may make. */
    private static List<JsonNode> rules(ServiceConnection service, String queue) {
        ServiceReply reply = service.send("GET", service.path("queues", queue, RULES), Map.of(), null, Map.of());
        if (reply.status() == 404) {
            return List.of();
        }
        List<JsonNode> rules = new ArrayList<>();
        ServiceConnection.require(reply).body().path("items").forEach(rules::add);
        return rules;
    }

    @Override
    public void refresh() {
        known.clear();
    }

    @Override
    public Write creation(ServiceConnection service, StatedObject object) {
        return new Write("POST", service.path("queues", object.name(), RULES), object.spec());
    }

    @Override
    public ObjectNode difference(StatedObject object, PresentObject present) {
        return DocumentWriter.JSON.createObjectNode();
    }

    @Override
    public Write change(ServiceConnection service, StatedObject object, ObjectNode difference) {
        throw new IllegalStateException("an access rule has no field that changes");
    }

    @Override
    public List<String> needs(StatedObject object) {
        return List.of(
                "queue " + object.name(),
                "policy " + makers.getOrDefault(object.name(), ""),
                object.text("subjectKind") + " " + object.text("subject"));
    }
}
