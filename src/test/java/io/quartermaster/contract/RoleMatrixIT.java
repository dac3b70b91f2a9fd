package io.quartermaster.contract;

import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.access.Realm;
import io.quartermaster.access.Role;
import io.quartermaster.platform.TenantId;
import io.restassured.response.Response;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.assertj.core.api.SoftAssertions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Every role against every operation, with real tokens: the service enforces the permissions that the contract states.
 * The resulting matrix is committed, so that a review shows every change of rights. {@code -Dqm.contract.update=true}
 * rewrites the matrix.
 */
@QuarkusTest
class RoleMatrixIT {

    private static final Path MATRIX = Path.of("src", "test", "resources", "contract", "role-matrix.txt");

    /** The result for a caller. */
    private enum Meets {
        PASS,
        /** 403 with the name of the permission. */
        LACKS,
        /** 404, as for what does not exist. */
        UNSEEN,
        /** Any answer that shows neither access nor its refusal. */
        NEITHER
    }

    private static World world;

    @BeforeAll
    static void tenant() {
        world = World.both().a();
    }

    @Test
    void everyRoleMayWhatTheContractSaysAndNothingElse() {
        Contract contract = Contract.served();
        SoftAssertions softly = new SoftAssertions();
        for (Role role : Role.values()) {
            for (Contract.Call call : contract.calls()) {
                Response response = Calls.dryRun(call, world, Roles.token(role, world));
                softly.assertThat(met(response, call))
                        .as("%s calls %s: %s %s", role.word(), call, response.statusCode(), response.asString())
                        .isEqualTo(expected(role, call));
            }
        }
        softly.assertAll();
    }

    @Test
    void whoWasGrantedNothingMayNothing() {
        String token = Roles.tokenWithoutRole(world);
        SoftAssertions softly = new SoftAssertions();
        for (Contract.Call call : Contract.served().calls()) {
            Response response = Calls.dryRun(call, world, token);
            softly.assertThat(met(response, call))
                    .as("%s: %s", call, response.asString())
                    .isEqualTo(
                            !call.needsToken() || call.ofCaller()
                                    ? Meets.PASS
                                    : call.ofTenant() ? Meets.LACKS : Meets.UNSEEN);
        }
        softly.assertAll();
    }

    @Test
    void matrixIsTheCommittedOne() throws IOException {
        String matrix = Contract.served().calls().stream()
                .map(RoleMatrixIT::row)
                .sorted()
                .collect(Collectors.joining("\n", header() + "\n", "\n"));
        if (Boolean.getBoolean("qm.contract.update")) {
            Files.writeString(MATRIX, matrix);
        }
        assertThat(matrix)
                .as("rights changed. If this is intended, write the matrix again with -Dit.test=RoleMatrixIT "
                        + "-Dqm.contract.update=true")
                .isEqualTo(Files.readString(MATRIX));
    }

    private static Meets met(Response response, Contract.Call call) {
        return switch (response.statusCode()) {
            // The gate let the request pass; a narrower rule refuses it, for example because the work belongs to
            // another member.
            case 403 ->
                response.<String>path("detail")
                                .matches("this needs the permission " + call.permission()
                                        + "(, and you have no role.*)?")
                        ? Meets.LACKS
                        : Meets.PASS;
            case 404 -> Meets.UNSEEN;
            case 200, 201, 202, 204, 400, 409, 412, 422 -> Meets.PASS;
            default -> Meets.NEITHER;
        };
    }

    /**
     * Deny by default: the operator's users do not learn which actions on a tenant they lack, and tenants learn nothing
     * about the rest of the API.
     */
    private static Meets expected(Role role, Contract.Call call) {
        if (!call.needsToken() || call.ofCaller()) {
            return Meets.PASS;
        }
        boolean granted = call.roles().contains(role.word());
        boolean operators = !role.belongsTo(new Realm.Tenant(new TenantId(world.tenant())));
        if (call.ofNode()) {
            return role == Role.AGENT && granted ? Meets.PASS : Meets.UNSEEN;
        }
        if (call.ofOperator() && !operators || call.ofTenant() && operators && !granted) {
            return Meets.UNSEEN;
        }
        return granted ? Meets.PASS : Meets.LACKS;
    }

    private static String header() {
        List<String> columns = new ArrayList<>(List.of("# operation", "permission"));
        for (Role role : Role.values()) {
            columns.add(role.word());
        }
        return line(columns);
    }

    private static String row(Contract.Call call) {
        List<String> columns =
                new ArrayList<>(List.of(call.id(), call.permission().isEmpty() ? "(none)" : call.permission()));
        for (Role role : Role.values()) {
            columns.add(word(expected(role, call)));
        }
        return line(columns);
    }

    private static String word(Meets what) {
        return switch (what) {
            case PASS -> "yes";
            case LACKS -> "403";
            case UNSEEN -> "404";
            case NEITHER -> "?";
        };
    }

    private static String line(List<String> columns) {
        return columns.stream()
                .map(column -> String.format("%-22s", column))
                .collect(Collectors.joining(" "))
                .stripTrailing();
    }
}
