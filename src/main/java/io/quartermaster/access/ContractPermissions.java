package io.quartermaster.access;

import io.quarkus.smallrye.openapi.OpenApiFilter;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.eclipse.microprofile.openapi.OASFilter;
import org.eclipse.microprofile.openapi.models.OpenAPI;
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

    private static final String OPERATORS_PATHS = "/v1/operator/";

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

    /** Removes the tenants' roles from the operator's routes, where the {@link Gate} answers their holders 404. */
    @Override
    public void filterOpenAPI(OpenAPI contract) {
        contract.getPaths().getPathItems().forEach((path, item) -> {
            if (path.startsWith(OPERATORS_PATHS)) {
                item.getOperations().values().forEach(this::withoutTenants);
            }
        });
    }

    private void withoutTenants(Operation operation) {
        Permission permission = byOperation.get(operation.getOperationId());
        if (permission != null) {
            operation.addExtension("x-roles", rolesWith(permission, role -> !role.isOfTenantsOnly()));
        }
    }

    private static List<String> rolesWith(Permission permission) {
        return rolesWith(permission, role -> true);
    }

    private static List<String> rolesWith(Permission permission, Predicate<Role> which) {
        return Arrays.stream(Role.values())
                .filter(which)
                .filter(role -> role.permissions().contains(permission))
                .map(Role::word)
                .toList();
    }
}
