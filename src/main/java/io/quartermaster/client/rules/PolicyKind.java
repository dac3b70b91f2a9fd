package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.documents.ListedKind;
import io.quartermaster.client.documents.PresentObject;
import io.quartermaster.client.documents.StatedObject;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.DocumentWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Policies. Quotas are a list in a document, and in a patch a mapping by pool; a pool that is not in the list goes. A
 * profile whose queue has a document comes into the policy with that queue, because the policy would make a queue with
 * another name.
 */
final class PolicyKind extends ListedKind {

    private static final String QUOTAS = "quotas";
    private static final String PROFILES = "profiles";

    /** The profiles of queues with documents, by policy. */
    private final Map<String, Set<String>> ownQueues = new HashMap<>();

    @Override
    public String word() {
        return "policy";
    }

    @Override
    public void prepare(List<StatedObject> all) {
        for (StatedObject queue : all) {
            if (queue.kind().equals("queue")) {
                ownQueues
                        .computeIfAbsent(queue.text("policy"), any -> new LinkedHashSet<>())
                        .add(queue.text("profile"));
            }
        }
    }

    @Override
    protected String listPath(ServiceConnection service) {
        return service.path("policies");
    }

    @Override
    public Write creation(ServiceConnection service, StatedObject object) {
        ObjectNode body = object.bodyWith("name");
        if (body.path(PROFILES).isArray()) {
            Set<String> own = ownQueues.getOrDefault(object.name(), Set.of());
            body.set(PROFILES, array(texts(body.path(PROFILES)), own, Set.of()));
        }
        return new Write("POST", service.path("policies"), body);
    }

    @Override
    public ObjectNode difference(StatedObject object, PresentObject present) {
        ObjectNode stated = object.spec().deepCopy();
        JsonNode now = comparable(present);
        withOwnQueues(object.name(), stated, now);
        if (!stated.path(QUOTAS).isArray()) {
            return RuleFields.COMPARISON.difference(stated, present.fields());
        }
        stated.set(QUOTAS, byPool(stated.path(QUOTAS), object.origin() + ": policy " + object.name()));
        ObjectNode difference = RuleFields.COMPARISON.difference(stated, now);
        difference.remove(QUOTAS);
        ObjectNode quotas = quotas(stated.path(QUOTAS), now.path(QUOTAS));
        if (!quotas.isEmpty()) {
            difference.set(QUOTAS, quotas);
        }
        return difference;
    }

    /** States the profiles that the policy should have now. Their order has no meaning, so it stays as it is. */
    private void withOwnQueues(String policy, ObjectNode stated, JsonNode now) {
        if (!stated.path(PROFILES).isArray()) {
            return;
        }
        Set<String> present = texts(now.path(PROFILES));
        Set<String> own = ownQueues.getOrDefault(policy, Set.of());
        ArrayNode wanted = array(texts(stated.path(PROFILES)), own, present);
        stated.set(PROFILES, texts(wanted).equals(present) ? now.path(PROFILES) : wanted);
    }

    /** The stated profiles without those of queues with documents, and of these the ones that are present. */
    private static ArrayNode array(Set<String> stated, Set<String> own, Set<String> present) {
        ArrayNode profiles = DocumentWriter.JSON.createArrayNode();
        stated.stream().filter(profile -> !own.contains(profile)).forEach(profiles::add);
        own.stream().filter(present::contains).forEach(profiles::add);
        return profiles;
    }

    private static Set<String> texts(JsonNode array) {
        Set<String> texts = new LinkedHashSet<>();
        array.forEach(item -> texts.add(item.asText()));
        return texts;
    }

    private static ObjectNode quotas(JsonNode stated, JsonNode now) {
        ObjectNode quotas = DocumentWriter.JSON.createObjectNode();
        stated.properties().forEach(quota -> {
            JsonNode before = now.path(quota.getKey());
            ObjectNode change = RuleFields.COMPARISON.difference((ObjectNode) quota.getValue(), before);
            if (!change.isEmpty() || before.isMissingNode()) {
                quotas.set(quota.getKey(), change);
            }
        });
        now.fieldNames().forEachRemaining(pool -> {
            if (!stated.has(pool)) {
                quotas.putNull(pool);
            }
        });
        return quotas;
    }

    @Override
    public JsonNode comparable(PresentObject present) {
        ObjectNode fields = present.fields().deepCopy();
        fields.set(QUOTAS, byPool(present.fields().path(QUOTAS), "the policy"));
        return fields;
    }

    private static ObjectNode byPool(JsonNode quotas, String where) {
        ObjectNode byPool = DocumentWriter.JSON.createObjectNode();
        for (JsonNode quota : quotas) {
            String pool = quota.path("pool").asText("");
            if (!(quota instanceof ObjectNode fields) || pool.isEmpty() || byPool.has(pool)) {
                throw CommandFailure.usage(where + ": each quota names a pool, and no pool has two quotas");
            }
            ObjectNode amounts = fields.deepCopy();
            amounts.remove("pool");
            byPool.set(pool, amounts);
        }
        return byPool;
    }

    @Override
    public Write change(ServiceConnection service, StatedObject object, ObjectNode difference) {
        return new Write("PATCH", service.path("policies", object.name()), difference);
    }

    @Override
    public List<String> needs(StatedObject object) {
        List<String> needs = new ArrayList<>(List.of("group " + object.text("group")));
        object.spec().path(PROFILES).forEach(profile -> needs.add("profile " + profile.asText()));
        return needs;
    }

    @Override
    public boolean touchesWaitingWork() {
        return true;
    }
}
