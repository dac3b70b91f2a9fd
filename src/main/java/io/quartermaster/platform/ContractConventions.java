package io.quartermaster.platform;

import io.quarkus.smallrye.openapi.OpenApiFilter;
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
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.PathItem;
import org.eclipse.microprofile.openapi.models.Paths;
import org.eclipse.microprofile.openapi.models.media.MediaType;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.parameters.Parameter;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;
import org.eclipse.microprofile.openapi.models.responses.APIResponses;
import org.eclipse.microprofile.openapi.models.security.SecurityScheme;
import org.jboss.jandex.AnnotationValue;
import org.jboss.jandex.ClassInfo;
import org.jboss.jandex.DotName;
import org.jboss.jandex.IndexView;
import org.jboss.jandex.RecordComponentInfo;
import org.jspecify.annotations.Nullable;

/**
 * Writes into the contract what holds for every operation, so that no resource repeats it: the bearer token, the problems it may answer
 * with, enums in the words of the API, which fields are always there. It also orders paths and schemas by name, so that two builds of the same code give the same text.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD)
public final class ContractConventions implements OASFilter {

    private static final String JSON = "application/json";
    private static final String DRY_RUN_PARAMETER = "dryRun";
    private static final String SCHEME = "bearer";
    private static final String SCHEMA = "#/components/schemas/";
    private static final String OURS = "io.quartermaster.";
    /** Agents of other versions may leave fields out, or send more. */
    private static final String AGENTS = "io.quartermaster.agent.";

    private static final DotName SCHEMA_ANNOTATION =
            DotName.createSimple("org.eclipse.microprofile.openapi.annotations.media.Schema");
    private static final DotName NULLABLE = DotName.createSimple("org.jspecify.annotations.Nullable");

    /** A problem that operations share: its status, its name among the contract's responses, and when it comes. */
    private record Shared(int status, String name, String when) {

        APIResponse response() {
            return OASFactory.createAPIResponse()
                    .description(when)
                    .content(OASFactory.createContent()
                            .addMediaType(
                                    Problem.MEDIA_TYPE,
                                    OASFactory.createMediaType()
                                            .schema(OASFactory.createSchema().ref(SCHEMA + "Problem"))));
        }

        APIResponse reference() {
            return OASFactory.createAPIResponse().ref("#/components/responses/" + name);
        }
    }

    private static final List<Shared> ALL = List.of(
            new Shared(400, "BadInput", "A field, parameter or header is not accepted; errors names each one."),
            new Shared(401, "Unauthenticated", "There is no token, or none that counts."),
            new Shared(403, "Forbidden", "The caller lacks the permission that the problem names."),
            new Shared(404, "NotFound", "There is no such thing, or it is not the caller's to see."));
    private static final List<Shared> OF_WRITES = List.of(
            new Shared(409, "Conflict", "What is there does not allow it."),
            new Shared(422, "Refused", "Well-formed, but the rules do not allow it."));
    private static final List<Shared> OF_UPDATES = List.of(
            new Shared(412, "PreconditionFailed", "It was changed meanwhile: If-Match names an older version."),
            new Shared(428, "PreconditionRequired", "A change names the version it is based on in If-Match."));

    private static final Set<PathItem.HttpMethod> READS = Set.of(PathItem.HttpMethod.GET, PathItem.HttpMethod.HEAD);
    private static final Set<PathItem.HttpMethod> UPDATES =
            Set.of(PathItem.HttpMethod.PUT, PathItem.HttpMethod.PATCH, PathItem.HttpMethod.DELETE);

    private final Map<String, Set<String>> fieldsThatAreAlwaysThere = new TreeMap<>();

    public ContractConventions(IndexView index) {
        Map<String, Set<String>> fieldsByClassName = new TreeMap<>();
        for (ClassInfo type : index.getKnownClasses()) {
            String name = type.name().toString();
            if (type.isRecord() && name.startsWith(OURS) && !name.startsWith(AGENTS)) {
                Optional<String> given = givenName(type);
                if (given.isPresent()) {
                    fieldsThatAreAlwaysThere.put(given.get(), alwaysThere(type));
                } else {
                    fieldsByClassName.put(type.simpleName(), alwaysThere(type));
                }
            }
        }
        // A class of the service may be called as a schema is that another class was given the name of.
        fieldsByClassName.forEach(fieldsThatAreAlwaysThere::putIfAbsent);
    }

    private static Optional<String> givenName(ClassInfo type) {
        return Optional.ofNullable(type.declaredAnnotation(SCHEMA_ANNOTATION))
                .map(given -> given.value("name"))
                .map(AnnotationValue::asString);
    }

    /** What may be absent is {@code @Nullable}, which the generator of the contract does not read. */
    private static Set<String> alwaysThere(ClassInfo type) {
        Set<String> fields = new TreeSet<>();
        for (RecordComponentInfo component : type.recordComponents()) {
            if (!component.type().hasAnnotation(NULLABLE)) {
                fields.add(component.name());
            }
        }
        return fields;
    }

    private static void requireFields(Components components, String name, Set<String> fields) {
        Schema schema = components.getSchemas().get(name);
        if (schema != null && schema.getProperties() != null) {
            List<String> known =
                    fields.stream().filter(schema.getProperties()::containsKey).toList();
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
     * The generator counts lists through (PageView3), in an order of its own; they are called after what they list, so that no change
     * elsewhere renames them.
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
                    .<Object>map(constant -> Words.of(String.valueOf(constant)))
                    .toList());
        }
        return schema;
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
        fieldsThatAreAlwaysThere.forEach((name, fields) -> requireFields(components, name, fields));
        components.addSchema("ProblemField", problemField());
        components.addSchema("Problem", problem());
        addShared(components, ALL);
        addShared(components, OF_WRITES);
        addShared(components, OF_UPDATES);
        components.setSchemas(new TreeMap<>(components.getSchemas()));
        contract.setPaths(ordered(contract.getPaths()));
        contract.getPaths().getPathItems().values().forEach(item -> item.getOperations()
                .forEach((method, operation) -> {
                    addDryRun(operation);
                    addProblems(method, operation);
                }));
    }

    private static void addShared(Components components, List<Shared> problems) {
        problems.forEach(problem -> components.addResponse(problem.name(), problem.response()));
    }

    private static Paths ordered(Paths paths) {
        Paths ordered = OASFactory.createPaths();
        new TreeMap<>(paths.getPathItems()).forEach(ordered::addPathItem);
        return ordered;
    }

    /** Beside what a write answers by itself, a dry run has an answer of its own. */
    private static void addDryRun(Operation operation) {
        List<Parameter> parameters = operation.getParameters();
        if (parameters == null
                || parameters.stream().noneMatch(parameter -> DRY_RUN_PARAMETER.equals(parameter.getName()))) {
            return;
        }
        APIResponses responses = operation.getResponses();
        Schema dryRun = OASFactory.createSchema().ref(SCHEMA + "DryRun");
        APIResponse ok = responses.getAPIResponse("200");
        MediaType json =
                ok == null || ok.getContent() == null ? null : ok.getContent().getMediaType(JSON);
        if (ok == null || json == null || json.getSchema() == null) {
            responses.addAPIResponse(
                    "200",
                    OASFactory.createAPIResponse()
                            .description(
                                    ok == null ? "With dryRun=true: what the write would do." : ok.getDescription())
                            .content(OASFactory.createContent()
                                    .addMediaType(
                                            JSON, OASFactory.createMediaType().schema(dryRun))));
        } else {
            json.setSchema(OASFactory.createSchema().oneOf(List.of(json.getSchema(), dryRun)));
        }
    }

    private static void addProblems(PathItem.HttpMethod method, Operation operation) {
        APIResponses responses = operation.getResponses();
        add(responses, ALL);
        if (!READS.contains(method)) {
            add(responses, OF_WRITES);
        }
        if (UPDATES.contains(method)) {
            add(responses, OF_UPDATES);
        }
        Map<String, APIResponse> byStatus = new TreeMap<>(responses.getAPIResponses());
        responses.setAPIResponses(byStatus);
    }

    private static void add(APIResponses responses, List<Shared> problems) {
        for (Shared problem : problems) {
            String status = String.valueOf(problem.status());
            if (!responses.hasAPIResponse(status)) {
                responses.addAPIResponse(status, problem.reference());
            }
        }
    }

    private static Schema problem() {
        return object("An error as RFC 9457 writes it. The code never changes its meaning.")
                .addProperty("type", text("urn:quartermaster:problem: and the code"))
                .addProperty("title", text("the code in words"))
                .addProperty("status", OASFactory.createSchema().addType(Schema.SchemaType.INTEGER))
                .addProperty("code", text("what programs decide by"))
                .addProperty("detail", text("what is wrong, for people"))
                .addProperty("instance", text("the request it is about, where one is named"))
                .addProperty(
                        "errors",
                        OASFactory.createSchema()
                                .addType(Schema.SchemaType.ARRAY)
                                .items(OASFactory.createSchema().ref(SCHEMA + "ProblemField")))
                .required(List.of("type", "title", "status", "code", "detail"));
    }

    private static Schema problemField() {
        return object("One field, parameter or header that was not accepted.")
                .addProperty("field", text("a path such as quotas[0].reserved, or the name of a parameter or header"))
                .addProperty("message", text("what is wrong with it"))
                .addProperty("accepted", text("what would be accepted"))
                .required(List.of("field", "message"));
    }

    private static Schema object(String description) {
        return OASFactory.createSchema().addType(Schema.SchemaType.OBJECT).description(description);
    }

    private static Schema text(String description) {
        return OASFactory.createSchema().addType(Schema.SchemaType.STRING).description(description);
    }
}
