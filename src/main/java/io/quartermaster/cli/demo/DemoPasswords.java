package io.quartermaster.cli.demo;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Secrets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The passwords of the demonstration's users, the same in every tenant of it. The data folder keeps the passwords with
 * which its users were created.
 *
 * @param member of the members of all groups
 */
public record DemoPasswords(String operator, String admin, String member, String viewer) {

    /**
     * The passwords of {@code tenants/demo.yaml}, which are public. Data folders had them before the service generated
     * passwords for each.
     */
    private static final DemoPasswords FIXED = new DemoPasswords(
            "demo-operator-password", "demo-admin-password", "demo-member-password", "demo-viewer-password");

    /** The source of the passwords of a new data folder. */
    public enum Kind {
        RANDOM,
        FIXED
    }

    /** The passwords of the data folder; generates them when it has none. */
    public static DemoPasswords of(DataFolder folder, Kind kind) {
        Secrets secrets = Secrets.in(folder);
        boolean older = Files.exists(folder.resolve(DemoSeed.MARKER_FILE));
        return kind == Kind.FIXED || older
                ? new DemoPasswords(
                        secrets.password("demo.operator", FIXED.operator),
                        secrets.password("demo.admin", FIXED.admin),
                        secrets.password("demo.member", FIXED.member),
                        secrets.password("demo.viewer", FIXED.viewer))
                : of(secrets);
    }

    /** The passwords of a data folder that the demonstration uses already. */
    public static DemoPasswords of(DataFolder folder) {
        return of(folder, Kind.RANDOM);
    }

    private static DemoPasswords of(Secrets secrets) {
        return new DemoPasswords(
                secrets.password("demo.operator"),
                secrets.password("demo.admin"),
                secrets.password("demo.member"),
                secrets.password("demo.viewer"));
    }

    /** The configuration with which the service gives its users these passwords. */
    public Map<String, String> properties() {
        Map<String, String> properties = new LinkedHashMap<>();
        properties.put("quartermaster.tenancy.demo-operator-password", operator);
        properties.put("quartermaster.tenancy.demo-passwords.admin", admin);
        properties.put("quartermaster.tenancy.demo-passwords.rnd-member", member);
        properties.put("quartermaster.tenancy.demo-passwords.devops-member", member);
        properties.put("quartermaster.tenancy.demo-passwords.viewer", viewer);
        return properties;
    }

    @Override
    public String toString() {
        return "passwords of the demonstration";
    }
}
