package io.quartermaster.platform.contract;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import io.quartermaster.platform.EnumNames;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.Paths;
import org.eclipse.microprofile.openapi.models.media.MediaType;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.security.SecurityScheme;
import org.jboss.jandex.AnnotationValue;
import org.jboss.jandex.ClassInfo;
import org.jboss.jandex.DotName;
import org.jboss.jandex.IndexView;
import org.jboss.jandex.RecordComponentInfo;
import org.jspecify.annotations.Nullable;

/**
 * Writes into the contract what holds for every operation, so that no resource repeats it: the bearer token, the
 * possible problems, the API's words for enums, and which fields are always present. It also sorts paths and schemas by
 * name, so that two builds of the same code give the same text.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD)
public final class ContractConventions implements OASFilter {

    private static final String SCHEME = "bearer";
    private static final String SCHEMA = "#/components/schemas/";
    private static final String OURS = "io.quartermaster.";
    /** Agents of other versions may leave fields out, or send more. */
    private static final String AGENTS = "io.quartermaster.agent.";

    private static final DotName SCHEMA_ANNOTATION =
            DotName.createSimple("org.eclipse.microprofile.openapi.annotations.media.Schema");
    private static final DotName NULLABLE = DotName.createSimple("org.jspecify.annotations.Nullable");

    /**
     * The records that a schema's name may refer to. An explicit name refers to one record; several classes may share a
     * simple name.
     */
    private final Map<String, List<Fields>> recordsByName = new TreeMap<>();

    /** The fields of a record, and those of them that are always present. */
    private record Fields(String className, Set<String> all, Set<String> alwaysThere) {}

    public ContractConventions(IndexView index) {
        Map<String, List<Fields>> recordsBySimpleName = new TreeMap<>();
        // An index that is composed of several indexes lists a class once for each of them.
        Set<String> seen = new TreeSet<>();
        for (ClassInfo type : index.getKnownClasses()) {
            String name = type.name().toString();
            if (seen.add(name) && type.isRecord() && name.startsWith(OURS) && !name.startsWith(AGENTS)) {
                Optional<String> given = givenName(type);
                given.map(it -> recordsByName.computeIfAbsent(it, any -> new ArrayList<>()))
                        .orElseGet(
                                () -> recordsBySimpleName.computeIfAbsent(type.simpleName(), any -> new ArrayList<>()))
                        .add(fields(type));
            }
        }
        // A class of the service may have the simple name that another class states as the name of its schema.
        recordsBySimpleName.forEach(recordsByName::putIfAbsent);
    }

    private static Optional<String> givenName(ClassInfo type) {
        return Optional.ofNullable(type.declaredAnnotation(SCHEMA_ANNOTATION))
                .map(given -> given.value("name"))
                .map(AnnotationValue::asString);
    }

    /** Optional fields are {@code @Nullable}, an annotation that the generator of the contract does not read. */
    private static Fields fields(ClassInfo type) {
        Set<String> all = new TreeSet<>();
        Set<String> alwaysThere = new TreeSet<>();
        for (RecordComponentInfo component : type.recordComponents()) {
            all.add(component.name());
            if (!component.type().hasAnnotation(NULLABLE)) {
                alwaysThere.add(component.name());
            }
        }
        return new Fields(type.name().toString(), all, alwaysThere);
    }

    /** Of several records with one name, the source of the schema is the one that has all of its properties. */
    private static Optional<Fields> recordOf(Schema schema, List<Fields> records) {
        if (records.size() == 1) {
            return Optional.of(records.getFirst());
        }
        return records.stream()
                .filter(fields ->
                        fields.all().containsAll(schema.getProperties().keySet()))
                .min(Comparator.comparingInt((Fields fields) -> fields.all().size())
                        .thenComparing(Fields::className));
    }

    private static void requireFields(Components components, String name, List<Fields> records) {
        Schema schema = components.getSchemas().get(name);
        if (schema != null && schema.getProperties() != null) {
            List<String> known = recordOf(schema, records).map(Fields::alwaysThere).orElse(Set.of()).stream()
                    .filter(schema.getProperties()::containsKey)
                    .toList();
            if (!known.isEmpty()) {
                Set<String> required = new TreeSet<>(known);
                if (schema.getRequired() != null) {
                    required.addAll(schema.getRequired());
                }
                schema.setRequired(List.copyOf(required));
            }
        }
    }

    /**
     * The generator numbers the schemas of lists (PageView3) in an order of its own. This renames each after its items,
     * so that no change elsewhere renames it.
     */
    private static void nameLists(OpenAPI contract, Components components) {
        Map<String, String> names = new TreeMap<>();
        Map<String, Schema> schemas = new TreeMap<>();
        components.getSchemas().forEach((name, schema) -> {
            String item = name.startsWith("Page") ? itemOf(schema) : null;
            if (item != null) {
                names.put(SCHEMA + name, SCHEMA + item + "List");
                schema.setRequired(List.of("items"));
                schemas.put(item + "List", schema);
            } else {
                schemas.put(name, schema);
            }
        });
        components.setSchemas(schemas);
        contract.getPaths().getPathItems().values().stream()
                .flatMap(item -> item.getOperations().values().stream())
                .flatMap(operation -> operation.getResponses().getAPIResponses().values().stream())
                .filter(response -> response.getContent() != null)
                .flatMap(response -> response.getContent().getMediaTypes().values().stream())
                .map(MediaType::getSchema)
                .filter(schema -> schema != null && schema.getRef() != null && names.containsKey(schema.getRef()))
                .forEach(schema -> schema.setRef(names.get(schema.getRef())));
    }

    private static @Nullable String itemOf(Schema page) {
        Schema items =
                page.getProperties() == null ? null : page.getProperties().get("items");
        Schema item = items == null ? null : items.getItems();
        String ref = item == null ? null : item.getRef();
        return ref == null ? null : ref.substring(SCHEMA.length());
    }

    @Override
    public @Nullable Schema filterSchema(Schema schema) {
        List<Object> constants = schema.getEnumeration();
        if (constants != null) {
            schema.setEnumeration(constants.stream()
                    .<Object>map(constant -> EnumNames.of(String.valueOf(constant)))
                    .toList());
        }
        if (schema.getAdditionalPropertiesSchema() != null && isEmpty(schema.getAdditionalPropertiesSchema())) {
            schema.setAdditionalPropertiesBoolean(true);
        }
        return schema;
    }

    private static boolean isEmpty(Schema schema) {
        return schema.getRef() == null && schema.getType() == null && schema.getAllOf() == null;
    }

    @Override
    public void filterOpenAPI(OpenAPI contract) {
        Components components = contract.getComponents();
        if (components == null) {
            throw new IllegalStateException("the contract has no schemas");
        }
        components.addSecurityScheme(
                SCHEME,
                OASFactory.createSecurityScheme()
                        .type(SecurityScheme.Type.HTTP)
                        .scheme("bearer")
                        .bearerFormat("JWT")
                        .description("An access token of the tenant's realm, or of the operator's."));
        contract.setSecurity(List.of(OASFactory.createSecurityRequirement().addScheme(SCHEME)));
        nameLists(contract, components);
        recordsByName.forEach((name, records) -> requireFields(components, name, records));
        ContractResponses responses = new ContractResponses(components);
        responses.addShared();
        components.setSchemas(new TreeMap<>(components.getSchemas()));
        contract.setPaths(ordered(contract.getPaths()));
        contract.getPaths().getPathItems().values().forEach(item -> item.getOperations()
                .forEach(responses::complete));
    }

    private static Paths ordered(Paths paths) {
        Paths ordered = OASFactory.createPaths();
        new TreeMap<>(paths.getPathItems()).forEach(ordered::addPathItem);
        return ordered;
    }
}
