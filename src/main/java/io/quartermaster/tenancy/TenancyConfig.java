package io.quartermaster.tenancy;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How tenants are created. */
@ConfigMapping(prefix = "quartermaster.tenancy")
public interface TenancyConfig {

    /** Allows tenants of demo plans, and a user of the operator's realm with a known password. Never in production. */
    @WithDefault("false")
    boolean demo();

    /**
     * The available plans; each is a file {@code <plan>.yaml} in the folder of blueprints. The program for one machine
     * adds {@code demo}.
     */
    @WithDefault("standard")
    List<String> plans();

    /** A folder of blueprints and realm templates that replaces the built-in ones. */
    Optional<Path> blueprints();

    /** URL of the portal; logins may redirect only to it. */
    @WithDefault("http://127.0.0.1:8080")
    URI portalUrl();

    /** A user of the operator's realm, created only if {@link #demo()} is on. */
    @WithDefault("operator")
    String demoOperator();

    /** Password of that user. It is public, because it stands in this documentation. */
    @WithDefault("demo-operator-password")
    String demoOperatorPassword();

    /**
     * How often each replica reads the origins that tenants allow. A change on another replica takes effect here after
     * this time at the latest.
     */
    @WithDefault("5s")
    Duration originsRefresh();

    /**
     * How often the service looks for realms to update: those from an older version of the program, and those whose
     * tenant was suspended or resumed.
     */
    @WithDefault("5s")
    Duration realmUpkeep();

    /** Passwords of users of demo plans, by username. They replace the passwords that the plan states. */
    Map<String, String> demoPasswords();

    /** Secret of the operator's client {@code quartermaster-cli}. Without it, Keycloak generates and stores one. */
    Optional<String> cliSecret();
}
