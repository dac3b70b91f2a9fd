package io.quartermaster.tenancy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import io.quarkus.arc.All;
import io.quarkus.runtime.Startup;
import io.quartermaster.access.IdentityConfig;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.platform.TenantId;
import io.quartermaster.platform.http.JsonSettings;
import jakarta.inject.Singleton;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.keycloak.representations.idm.ClientRepresentation;
import org.keycloak.representations.idm.RealmRepresentation;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/**
 * The blueprints and realm templates, read strictly when the service starts. A misspelt key, a template that is not a
 * realm, or an unknown role stops the start with a message that names the file.
 *
 * <p>In a template's texts, {@code {tenant}}, {@code {displayName}}, {@code {audience}} and {@code {portal}} are
 * replaced.
 */
@Startup
@Singleton
public class BlueprintCatalog {

    private static final String FOLDER = "tenants/";
    private static final String OPERATOR_TEMPLATE = "operator-realm.json";
    private static final String TENANT_TEMPLATE = "realm-template.json";
    /** Begins the names of the templates in this program, which may be beside others of the operator. */
    private static final String BUILT_IN = "built-in/";

    private static final ObjectMapper STRICT = JsonSettings.newMapper();
    /**
     * Without the API's settings, because Keycloak writes its enums in its own way. Jackson refuses unknown keys by
     * default.
     */
    private static final ObjectMapper REALMS = new ObjectMapper();

    private final Optional<Path> folder;
    private final Map<String, String> common;
    private final Map<String, Blueprint> plans = new TreeMap<>();
    private final Map<String, JsonNode> templates = new TreeMap<>();
    private final List<BlueprintSection> sections;
    /** The sections, by plan and key. */
    private final Map<String, Map<String, JsonNode>> sectionsByPlan = new TreeMap<>();

    BlueprintCatalog(TenancyConfig config, IdentityConfig identity, @All List<BlueprintSection> sections) {
        this.sections = sections;
        this.folder = config.blueprints();
        this.common = Map.of(
                "audience", identity.audience(), "portal", config.portalUrl().toString());
        for (String plan : config.plans()) {
            plans.put(plan, read(plan));
        }
        checkTemplate(OPERATOR_TEMPLATE);
        operatorRealm();
        for (String file : List.of(TENANT_TEMPLATE, OPERATOR_TEMPLATE)) {
            checkTemplate(BUILT_IN + file);
        }
    }

    public Optional<Blueprint> find(String plan) {
        return Optional.ofNullable(plans.get(plan));
    }

    Blueprint of(TenantSpec tenant) {
        return find(tenant.plan())
                .orElseThrow(() -> new IllegalStateException("there is no plan " + tenant.plan() + " any more"));
    }

    /** The value in the tenant's plan under the key of a {@link BlueprintSection}, if any. */
    public Optional<JsonNode> section(TenantSpec tenant, String key) {
        return Optional.ofNullable(
                sectionsByPlan.getOrDefault(of(tenant).plan(), Map.of()).get(key));
    }

    /** All parts of the plan's blueprint that belong to higher packages, by key. */
    public Map<String, JsonNode> sections(String plan) {
        return Map.copyOf(sectionsByPlan.getOrDefault(plan, Map.of()));
    }

    /** The names of all plans. */
    public Set<String> names() {
        return plans.keySet();
    }

    /** The realm of a tenant, without the groups and users of its plan. */
    RealmRepresentation realmOf(TenantSpec tenant) {
        return fillTemplate(of(tenant).realmTemplate(), tenant.id().value(), tenant.displayName());
    }

    /** Whether the plan lets a tenant's admins change users and groups; false if the plan no longer exists. */
    public boolean adminsManageUsers(String plan) {
        return find(plan)
                .map(blueprint -> templates.get(blueprint.realmTemplate()))
                .filter(template -> {
                    for (JsonNode role : template.path("roles").path("realm")) {
                        if (role.path("name").asText().equals(Role.TENANT_ADMIN.word())) {
                            return role.path("composites")
                                    .path("client")
                                    .path(RealmAdmin.REALM_MANAGEMENT)
                                    .valueStream()
                                    .anyMatch(part -> part.asText().equals(RealmAdmin.MANAGE_USERS));
                        }
                    }
                    return false;
                })
                .isPresent();
    }

    /**
     * A client of the tenant's realm as its plan states it. If the plan, or the client in it, does not exist, the
     * client is that of the template in this program.
     */
    ClientRepresentation clientOf(String plan, TenantId tenant, String clientId) {
        return find(plan)
                .map(blueprint -> fillTemplate(blueprint.realmTemplate(), tenant.value(), tenant.value()))
                .flatMap(realm -> client(realm, clientId))
                .or(() -> client(fillTemplate(BUILT_IN + TENANT_TEMPLATE, tenant.value(), tenant.value()), clientId))
                .orElseThrow(() -> new IllegalStateException("no template has a client " + clientId));
    }

    /** A client of the operator's realm as the template states it; otherwise that of the template in this program. */
    ClientRepresentation operatorClient(String clientId) {
        return client(operatorRealm(), clientId)
                .or(() -> client(fillTemplate(BUILT_IN + OPERATOR_TEMPLATE, Realm.OPERATOR_NAME, "Operator"), clientId))
                .orElseThrow(() -> new IllegalStateException("no template has a client " + clientId));
    }

    private static Optional<ClientRepresentation> client(RealmRepresentation realm, String clientId) {
        return Optional.ofNullable(realm.getClients()).orElse(List.of()).stream()
                .filter(client -> client.getClientId().equals(clientId))
                .findFirst();
    }

    RealmRepresentation operatorRealm() {
        return fillTemplate(OPERATOR_TEMPLATE, Realm.OPERATOR_NAME, "Operator");
    }

    private Blueprint read(String plan) {
        String file = plan + ".yaml";
        try {
            Map<String, Object> yaml = new Yaml(new SafeConstructor(new LoaderOptions())).load(readText(file));
            Map<String, JsonNode> found = new TreeMap<>();
            for (BlueprintSection section : sections) {
                if (yaml.containsKey(section.key())) {
                    JsonNode value = STRICT.valueToTree(yaml.remove(section.key()));
                    section.check(value);
                    found.put(section.key(), value);
                }
            }
            sectionsByPlan.put(plan, found);
            Blueprint blueprint = STRICT.convertValue(yaml, Blueprint.class);
            if (!blueprint.plan().equals(plan)) {
                throw new IllegalArgumentException("the file states the plan " + blueprint.plan());
            }
            checkTemplate(blueprint.realmTemplate());
            fillTemplate(blueprint.realmTemplate(), "any", "any");
            return blueprint;
        } catch (RuntimeException e) {
            throw new IllegalStateException("blueprint " + file + " cannot be used: " + e.getMessage(), e);
        }
    }

    private void checkTemplate(String file) {
        try {
            templates.put(file, REALMS.readTree(readText(file)));
        } catch (IOException e) {
            throw new IllegalStateException("realm template " + file + " cannot be used: " + e.getMessage(), e);
        }
    }

    private RealmRepresentation fillTemplate(String file, String tenant, String displayName) {
        JsonNode template = templates.get(file);
        if (template == null) {
            throw new IllegalStateException("realm template " + file + " was not read");
        }
        Map<String, String> values = new TreeMap<>(common);
        values.put("tenant", tenant);
        values.put("displayName", displayName);
        try {
            return REALMS.treeToValue(replacePlaceholders(template, values), RealmRepresentation.class);
        } catch (IOException e) {
            throw new IllegalStateException("realm template " + file + " cannot be used: " + e.getMessage(), e);
        }
    }

    /**
     * Replaces the placeholders in the parsed template, so that no value can break out of its text. A replaced value is
     * not searched again.
     */
    private static JsonNode replacePlaceholders(JsonNode node, Map<String, String> values) {
        return switch (node) {
            case TextNode text -> TextNode.valueOf(replacePlaceholders(text.textValue(), values));
            case ArrayNode array -> {
                ArrayNode copy = array.arrayNode(array.size());
                array.forEach(item -> copy.add(replacePlaceholders(item, values)));
                yield copy;
            }
            case ObjectNode object -> {
                ObjectNode copy = object.objectNode();
                object.properties()
                        .forEach(entry -> copy.set(entry.getKey(), replacePlaceholders(entry.getValue(), values)));
                yield copy;
            }
            default -> node;
        };
    }

    private static final java.util.regex.Pattern PLACEHOLDER = java.util.regex.Pattern.compile("\\{([a-zA-Z]+)}");

    private static String replacePlaceholders(String text, Map<String, String> values) {
        return PLACEHOLDER.matcher(text).replaceAll(match -> {
            String value = values.get(match.group(1));
            if (value == null) {
                throw new IllegalStateException("there is no {" + match.group(1) + "}");
            }
            return java.util.regex.Matcher.quoteReplacement(value);
        });
    }

    private String readText(String file) {
        try {
            boolean builtIn = file.startsWith(BUILT_IN);
            if (folder.isPresent() && !builtIn) {
                return Files.readString(folder.get().resolve(file));
            }
            String resource = FOLDER + (builtIn ? file.substring(BUILT_IN.length()) : file);
            try (InputStream in = Thread.currentThread().getContextClassLoader().getResourceAsStream(resource)) {
                if (in == null) {
                    throw new FileNotFoundException(resource + " is not part of the program");
                }
                return new String(in.readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
