package io.quartermaster.access;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.Operation;
import org.jboss.jandex.AnnotationInstance;
import org.jboss.jandex.DotName;
import org.jboss.jandex.IndexView;
import org.jboss.jandex.MethodInfo;
import org.jspecify.annotations.Nullable;

/**
 * Adds to every operation of the contract the permission that it needs ({@code x-permission}) and the roles that grant
 * it ({@code x-roles}). The role matrix and the tenant-leak test are generated from these.
 *
 * <p>Operations are identified by their ids: the one on the method, or {@code Class_method}.
 */
@OpenApiFilter(stages = OpenApiFilter.RunStage.BUILD)
public final class ContractPermissions implements OASFilter {

    private static final DotName OPERATION =
            DotName.createSimple("org.eclipse.microprofile.openapi.annotations.Operation");

    private final Map<String, Permission> byOperation = new HashMap<>();

    public ContractPermissions(IndexView index) {
        for (AnnotationInstance needs : index.getAnnotations(DotName.createSimple(RequiresPermission.class))) {
            MethodInfo method = needs.target().asMethod();
            byOperation.put(
                    operationId(method), Permission.valueOf(needs.value().asEnum()));
        }
    }

    private static String operationId(MethodInfo method) {
        AnnotationInstance given = method.annotation(OPERATION);
        return given != null && given.value("operationId") != null
                ? given.value("operationId").asString()
                : method.declaringClass().simpleName() + "_" + method.name();
    }

    @Override
    public @Nullable Operation filterOperation(Operation operation) {
        Permission permission = byOperation.get(operation.getOperationId());
        if (permission != null) {
            operation.addExtension("x-permission", permission.word());
            operation.addExtension("x-roles", rolesWith(permission));
        }
        return operation;
    }

    private static List<String> rolesWith(Permission permission) {
        return Arrays.stream(Role.values())
                .filter(role -> role.permissions().contains(permission))
                .map(Role::word)
                .toList();
    }
}
