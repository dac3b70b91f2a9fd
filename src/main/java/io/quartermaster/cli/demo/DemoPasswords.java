package io.quartermaster.cli.demo;

import io.quartermaster.embedded.DataFolder;
import io.quartermaster.embedded.Secrets;
import java.nio.file.Files;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The passwords of the demonstration's users, the same in every tenant of it. The data folder keeps those with which its users were made.
 *
 * @param member of the members of all groups
 */
public record DemoPasswords(String operator, String admin, String member, String viewer) {

    /** Of {@code tenants/demo.yaml}, and what data folders had before passwords were made for each. Everybody can read them. */
    private static final DemoPasswords FIXED = new DemoPasswords(
            "demo-operator-password", "demo-admin-password", "demo-member-password", "demo-viewer-password");

    /** How those of a new data folder are made. */
    public enum Kind {
        RANDOM,
        FIXED
    }

    /** Those of the data folder; they are made when it has none. */
    public static DemoPasswords of(DataFolder folder, Kind kind) {
        Secrets secrets = Secrets.in(folder);
        boolean older = Files.exists(folder.resolve(DemoSeed.MARKER));
        return kind == Kind.FIXED || older
                ? new DemoPasswords(
                        secrets.password("demo.operator", FIXED.operator),
                        secrets.password("demo.admin", FIXED.admin),
                        secrets.password("demo.member", FIXED.member),
                        secrets.password("demo.viewer", FIXED.viewer))
                : of(secrets);
    }

    /** Those of a data folder on which the demonstration was started. */
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

    /** Configuration with which the service makes its users so. */
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
