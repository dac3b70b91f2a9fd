package io.quartermaster.tenancy;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithDefault;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** How tenants are made. */
@ConfigMapping(prefix = "quartermaster.tenancy")
public interface TenancyConfig {

    /** Allows tenants of demo plans, and a user of the operator's realm with a known password. Never in production. */
    @WithDefault("false")
    boolean demo();

    /** The plans there are; each is a file {@code <plan>.yaml} of the blueprints' folder. */
    @WithDefault("standard,demo")
    List<String> plans();

    /** A folder of blueprints and realm templates to use instead of those that come with the program. */
    Optional<Path> blueprints();

    /** Where the portal is; logins may return only there. */
    @WithDefault("http://127.0.0.1:8080")
    URI portalUrl();

    /** A user of the operator's realm, made only where {@link #demo()} is on. */
    @WithDefault("operator")
    String demoOperator();

    /** That user's password. Everybody can read it here. */
    @WithDefault("demo-operator-password")
    String demoOperatorPassword();

    /** How often each replica reads which origins tenants allow: after this long at the latest, a change made on another replica holds here. */
    @WithDefault("5s")
    Duration originsRefresh();

    /**
     * How often to look for realms that an older version of the program made, or whose tenant was suspended or resumed, and bring them up to
     * date.
     */
    @WithDefault("5s")
    Duration realmUpkeep();

    /** Passwords of users of demo plans, by user name, instead of those that their plan states. */
    Map<String, String> demoPasswords();

    /** Secret of the operator's client {@code quartermaster-cli}; without it Keycloak makes one up and keeps it. */
    Optional<String> cliSecret();
}
