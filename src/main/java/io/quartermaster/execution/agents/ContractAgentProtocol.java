package io.quartermaster.execution.agents;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonSubTypes;
import com.fasterxml.jackson.annotation.JsonTypeInfo;
import io.quarkus.smallrye.openapi.OpenApiFilter;
import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.microprofile.openapi.OASFactory;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.Components;
import org.eclipse.microprofile.openapi.models.OpenAPI;
import org.eclipse.microprofile.openapi.models.media.Schema;
import org.eclipse.microprofile.openapi.models.media.Schema.SchemaType;

/**
 * Describes in the contract the sealed types of the agents' protocol, which the generator writes as empty objects. It
 * adds the discriminator and the fields of all members as optional fields.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD, priority = 2)
public final class ContractAgentProtocol implements OASFilter {

    @Override
    public void filterOpenAPI(OpenAPI contract) {
        Components components = contract.getComponents();
        if (components == null) {
            throw new IllegalStateException("the contract has no schemas");
        }
        components.addSchema("AttemptState", family(AttemptState.class));
        components.addSchema("Desired", family(AttemptOrder.Desired.class));
    }

    private static Schema family(Class<?> family) {
        String tag = family.getAnnotation(JsonTypeInfo.class).property();
        List<JsonSubTypes.Type> members =
                List.of(family.getAnnotation(JsonSubTypes.class).value());
        Schema schema = OASFactory.createSchema()
                .addType(SchemaType.OBJECT)
                .addProperty(
                        tag, words(members.stream().map(JsonSubTypes.Type::name).toList()))
                .required(List.of(tag));
        members.stream()
                .flatMap(member -> Arrays.stream(member.value().getRecordComponents()))
                .forEach(field -> schema.addProperty(field.getName(), field(field)));
        return schema;
    }

    private static Schema field(RecordComponent field) {
        Class<?> type = field.getType();
        if (type.isEnum()) {
            return words(Arrays.stream(type.getFields())
                    .filter(constant -> constant.isEnumConstant())
                    .map(constant -> Optional.ofNullable(constant.getAnnotation(JsonProperty.class))
                            .map(JsonProperty::value)
                            .orElseThrow(() -> new IllegalStateException(constant + " has no word")))
                    .toList());
        }
        Schema known = SCALARS.get(type);
        if (known == null) {
            throw new IllegalStateException("the contract cannot type " + field);
        }
        return OASFactory.createSchema().type(known.getType()).format(known.getFormat());
    }

    private static final Map<Class<?>, Schema> SCALARS = Map.of(
            long.class, scalar(SchemaType.INTEGER, "int64"),
            Long.class, scalar(SchemaType.INTEGER, "int64"),
            int.class, scalar(SchemaType.INTEGER, "int32"),
            Integer.class, scalar(SchemaType.INTEGER, "int32"),
            String.class, OASFactory.createSchema().addType(SchemaType.STRING));

    private static Schema scalar(SchemaType type, String format) {
        return OASFactory.createSchema().addType(type).format(format);
    }

    private static Schema words(List<String> words) {
        return OASFactory.createSchema().addType(SchemaType.STRING).enumeration(List.copyOf(words));
    }
}
