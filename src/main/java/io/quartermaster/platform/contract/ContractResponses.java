package io.quartermaster.platform.contract;

import io.quartermaster.platform.http.Problem;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.Operation;
import org.eclipse.microprofile.openapi.models.PathItem.HttpMethod;
import org.eclipse.microprofile.openapi.models.headers.Header;
import org.eclipse.microprofile.openapi.models.media.MediaType;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;
import org.eclipse.microprofile.openapi.models.parameters.Parameter;
import org.eclipse.microprofile.openapi.models.responses.APIResponse;
import org.eclipse.microprofile.openapi.models.responses.APIResponses;
import org.jspecify.annotations.Nullable;

/**
 * The answers of an operation in the contract, as far as they follow from its shape: problems, headers, descriptions.
 *
 * <p>A method adds its own answers by reference: {@code @APIResponse(responseCode = "502", ref = "IdentityRefused")}.
 * With any {@code @APIResponse}, the generator leaves out the answer that it derives from the return type. A method
 * that relies on that answer names its problem in the extension {@code x-problem} instead. {@code PUT} and
 * {@code PATCH} need {@code If-Match}. Where a method references 412 itself, {@code If-Match} is optional. All other
 * operations have no {@code If-Match}.
 */
final class ContractResponses {

    private static final String SCHEMA = "#/components/schemas/";
    private static final String RESPONSE = "#/components/responses/";
    private static final String IF_MATCH = "If-Match";
    private static final String IDEMPOTENCY_KEY = "Idempotency-Key";
    private static final String JSON = "application/json";
    private static final String PROBLEM = "x-problem";
    private static final Set<HttpMethod> READS = Set.of(HttpMethod.GET, HttpMethod.HEAD);
    private static final Set<HttpMethod> VERSIONED = Set.of(HttpMethod.PUT, HttpMethod.PATCH);
    /** The description that the generator writes where a method has none. */
    private static final Set<String> REASON_PHRASES = Set.of("OK", "Created", "Accepted", "No Content");

    /**
     * A problem that operations share: its name among the contract's responses, its header if it has one, and its
     * cause.
     */
    private enum Shared {
        BAD_INPUT(400, "BadInput", null, "A field, a parameter or a header is not accepted; `errors` names each one."),
        UNAUTHENTICATED(
                401,
                "Unauthenticated",
                "WWW-Authenticate",
                "The request has no bearer token, or the token is expired, forged or of an unknown realm."),
        FORBIDDEN(
                403,
                "Forbidden",
                null,
                "The caller lacks the permission that the problem names, or the tenant is suspended."),
        NOT_FOUND(404, "NotFound", null, "The resource does not exist, or the caller may not see it."),
        CONFLICT(409, "Conflict", null, "The present state does not allow the request; `code` names the reason."),
        PRECONDITION_FAILED(
                412, "PreconditionFailed", null, "The resource has changed: `If-Match` names an older version."),
        TOO_LARGE(413, "TooLarge", null, "The body is larger than the service accepts."),
        UNSUPPORTED_MEDIA_TYPE(
                415, "UnsupportedMediaType", null, "The body has a media type that this operation does not read."),
        REFUSED(
                422,
                "Refused",
                null,
                "The request is well-formed, but a rule does not allow it; `code` names the rule."),
        PRECONDITION_REQUIRED(
                428, "PreconditionRequired", null, "The request lacks `If-Match`, which an update of a version needs."),
        TOO_MANY_REQUESTS(
                429, "TooManyRequests", "Retry-After", "A limit of rate or number is reached; `code` names it."),
        IDENTITY_REFUSED(502, "IdentityRefused", null, "Keycloak refused a step that this request needs."),
        UNAVAILABLE(
                503,
                "Unavailable",
                "Retry-After",
                "A component that the service needs does not answer. Repeat the request later, and a write with its `Idempotency-Key`.");

        private final int status;
        private final String component;
        private final @Nullable String header;
        private final String cause;

        Shared(int status, String component, @Nullable String header, String cause) {
            this.status = status;
            this.component = component;
            this.header = header;
            this.cause = cause;
        }

        String key() {
            return Integer.toString(status);
        }

        APIResponse response() {
            APIResponse response = OASFactory.createAPIResponse()
                    .description(cause)
                    .content(OASFactory.createContent()
                            .addMediaType(
                                    Problem.MEDIA_TYPE,
                                    OASFactory.createMediaType()
                                            .schema(OASFactory.createSchema().ref(SCHEMA + "Problem"))));
            if (header != null) {
                response.addHeader(header, HEADERS.get(header));
            }
            return response;
        }
    }

    private static final Map<String, Header> HEADERS = Map.of(
            "WWW-Authenticate",
            header(SchemaType.STRING, "The scheme to authenticate with: `Bearer`."),
            "Retry-After",
            header(SchemaType.INTEGER, "Seconds to wait before the request is sent again."),
            "Location",
            header(SchemaType.STRING, "Path of the resource, or of the operation that creates it."),
            "ETag",
            header(SchemaType.STRING, "Version of the resource, in quotation marks; `If-Match` takes it."));

    private final Map<String, Schema> schemas;
    private final Components components;

    ContractResponses(Components components) {
        this.components = components;
        this.schemas = new HashMap<>(components.getSchemas());
    }

    /** Adds the problem document and the answers that carry it. */
    void addShared() {
        components.addSchema("ProblemField", problemField());
        components.addSchema("Problem", problem());
        for (Shared problem : Shared.values()) {
            components.addResponse(problem.component, problem.response());
        }
    }

    /** Adds to an operation every answer that follows from its shape. */
    void complete(HttpMethod method, Operation operation) {
        APIResponses responses = operation.getResponses();
        add(responses, Shared.BAD_INPUT, Shared.TOO_MANY_REQUESTS, Shared.UNAVAILABLE);
        if (needsToken(operation)) {
            add(responses, Shared.UNAUTHENTICATED, Shared.FORBIDDEN, Shared.NOT_FOUND);
        }
        if (!READS.contains(method)) {
            add(responses, Shared.CONFLICT);
        }
        if (operation.getRequestBody() != null) {
            add(responses, Shared.TOO_LARGE, Shared.UNSUPPORTED_MEDIA_TYPE, Shared.REFUSED);
        }
        if (parameter(operation, IDEMPOTENCY_KEY) != null) {
            add(responses, Shared.REFUSED);
        }
        addNamed(operation, responses);
        documentIfMatch(method, operation, responses);
        responses.getAPIResponses().forEach((status, response) -> {
            if (response.getRef() == null && status.startsWith("2")) {
                describe(method, responses, status, response);
                addHeaders(status, response);
            }
        });
        addDryRun(operation, responses);
        responses.setAPIResponses(new TreeMap<>(responses.getAPIResponses()));
    }

    /** An operation without a token states an empty list of security requirements. */
    private static boolean needsToken(Operation operation) {
        return operation.getSecurity() == null || !operation.getSecurity().isEmpty();
    }

    private static void addNamed(Operation operation, APIResponses responses) {
        if (operation.getExtensions() != null && operation.getExtensions().containsKey(PROBLEM)) {
            String status = String.valueOf(operation.getExtensions().get(PROBLEM));
            add(
                    responses,
                    Arrays.stream(Shared.values())
                            .filter(problem -> problem.key().equals(status))
                            .toArray(Shared[]::new));
            operation.removeExtension(PROBLEM);
        }
    }

    private static void documentIfMatch(HttpMethod method, Operation operation, APIResponses responses) {
        Parameter ifMatch = parameter(operation, IF_MATCH);
        if (ifMatch == null || responses.hasAPIResponse(Shared.PRECONDITION_FAILED.key())) {
            return;
        }
        if (VERSIONED.contains(method)) {
            add(responses, Shared.PRECONDITION_FAILED, Shared.PRECONDITION_REQUIRED);
            ifMatch.setRequired(true);
        } else {
            operation.removeParameter(ifMatch);
        }
    }

    private static @Nullable Parameter parameter(Operation operation, String name) {
        List<Parameter> parameters = operation.getParameters();
        return parameters == null
                ? null
                : parameters.stream()
                        .filter(parameter -> name.equals(parameter.getName()))
                        .findFirst()
                        .orElse(null);
    }

    private static void add(APIResponses responses, Shared... problems) {
        for (Shared problem : problems) {
            APIResponse known = responses.getAPIResponse(problem.key());
            if (known == null || known.getRef() == null) {
                responses.addAPIResponse(
                        problem.key(), OASFactory.createAPIResponse().ref(RESPONSE + problem.component));
            }
        }
    }

    /** Adds the answer of a dry run to the answers of a write. */
    private static void addDryRun(Operation operation, APIResponses responses) {
        if (parameter(operation, "dryRun") == null) {
            return;
        }
        Schema dryRun = OASFactory.createSchema().ref(SCHEMA + "DryRun");
        APIResponse ok = responses.getAPIResponse("200");
        MediaType json =
                ok == null || ok.getContent() == null ? null : ok.getContent().getMediaType(JSON);
        if (json == null || json.getSchema() == null) {
            Schema own = created(responses);
            Schema either = own == null ? dryRun : OASFactory.createSchema().oneOf(List.of(own, dryRun));
            responses.addAPIResponse(
                    "200",
                    OASFactory.createAPIResponse()
                            .description("With `dryRun=true`: what the write would do.")
                            .content(OASFactory.createContent()
                                    .addMediaType(
                                            JSON, OASFactory.createMediaType().schema(either))));
        } else {
            json.setSchema(OASFactory.createSchema().oneOf(List.of(json.getSchema(), dryRun)));
        }
    }

    /**
     * The schema that a write answers with 201 or 202. Generators type an operation by its lowest status, so the dry
     * run's answer lists this schema as well; otherwise, generated clients would read a created resource as a dry run.
     */
    private static @Nullable Schema created(APIResponses responses) {
        return Stream.of("201", "202")
                .map(responses::getAPIResponse)
                .filter(response -> response != null && response.getContent() != null)
                .map(response -> response.getContent().getMediaType(JSON))
                .filter(type -> type != null && type.getSchema() != null)
                .map(MediaType::getSchema)
                .findFirst()
                .orElse(null);
    }

    private static void describe(HttpMethod method, APIResponses responses, String status, APIResponse response) {
        String given = response.getDescription();
        if (given == null || REASON_PHRASES.contains(given)) {
            response.setDescription(
                    switch (status) {
                        case "201" -> "The resource was created.";
                        case "202" -> "The work has begun. The body is its operation, which shows the progress.";
                        case "204" -> "The request was carried out.";
                        default -> success(method, responses);
                    });
        }
    }

    private static String success(HttpMethod method, APIResponses responses) {
        if (responses.hasAPIResponse("201")) {
            return "The resource exists already with this content; nothing was changed.";
        }
        return READS.contains(method) ? "The answer." : "The request was carried out.";
    }

    /** Adds the usual headers, except where a method declares headers of its own. */
    private void addHeaders(String status, APIResponse response) {
        if (response.getHeaders() != null && !response.getHeaders().isEmpty()) {
            return;
        }
        if (status.equals("201") || status.equals("202")) {
            response.addHeader("Location", HEADERS.get("Location"));
        }
        if (hasVersion(response)) {
            response.addHeader("ETag", HEADERS.get("ETag"));
        }
    }

    private boolean hasVersion(APIResponse response) {
        if (response.getContent() == null) {
            return false;
        }
        return response.getContent().getMediaTypes().values().stream()
                .map(MediaType::getSchema)
                .filter(schema -> schema != null && schema.getRef() != null)
                .map(schema -> schemas.get(schema.getRef().substring(SCHEMA.length())))
                .anyMatch(schema -> schema != null
                        && schema.getProperties() != null
                        && schema.getProperties().containsKey("version"));
    }

    private static Header header(SchemaType type, String description) {
        return OASFactory.createHeader()
                .description(description)
                .schema(OASFactory.createSchema().addType(type));
    }

    private static Schema problem() {
        return object("An error as RFC 9457 writes it. A code never changes its meaning.")
                .addProperty("type", text("`urn:quartermaster:problem:` and the code."))
                .addProperty("title", text("The code in words."))
                .addProperty(
                        "status",
                        OASFactory.createSchema()
                                .addType(SchemaType.INTEGER)
                                .format("int32")
                                .description("The HTTP status of the answer."))
                .addProperty("code", text("The name of the problem for programs, such as `invalid-input`."))
                .addProperty("detail", text("The cause and the remedy, for people."))
                .addProperty("instance", text("The request that failed, where one is named."))
                .addProperty(
                        "errors",
                        OASFactory.createSchema()
                                .addType(SchemaType.ARRAY)
                                .description("Each field, parameter or header that is not accepted.")
                                .items(OASFactory.createSchema().ref(SCHEMA + "ProblemField")))
                .required(List.of("type", "title", "status", "code", "detail"));
    }

    private static Schema problemField() {
        return object("One field, parameter or header that is not accepted.")
                .addProperty(
                        "field", text("A path such as `quotas[0].reserved`, or the name of a parameter or header."))
                .addProperty("message", text("The reason why it is not accepted."))
                .addProperty("accepted", text("The values that are accepted."))
                .required(List.of("field", "message"));
    }

    private static Schema object(String description) {
        return OASFactory.createSchema().addType(SchemaType.OBJECT).description(description);
    }

    private static Schema text(String description) {
        return OASFactory.createSchema().addType(SchemaType.STRING).description(description);
    }
}
