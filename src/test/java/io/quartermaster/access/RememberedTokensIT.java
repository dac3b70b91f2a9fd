package io.quartermaster.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quarkus.security.UnauthorizedException;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.platform.TenantId;
import io.quartermaster.tenancy.TestTenants;
import io.smallrye.mutiny.Uni;
import jakarta.inject.Inject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** When a token is verified again, with a clock that the test moves. */
@QuarkusTest
class RememberedTokensIT {

    private static final String TENANT = "remembered-tokens";
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Instant BEGIN = Instant.parse("2030-01-01T00:00:00Z");
    private static final Instant EXPIRY = BEGIN.plusSeconds(300);

    @Inject
    IssuerDirectory issuerDirectory;

    @Inject
    IdentityConfig config;

    private final AtomicReference<Instant> now = new AtomicReference<>(BEGIN);
    private final AtomicInteger verifications = new AtomicInteger();
    private RememberedTokens tokens;

    @BeforeEach
    void oneTenant() {
        if (issuerDirectory
                .tenantStatus(new TenantId(TENANT))
                .await()
                .atMost(PATIENCE)
                .isEmpty()) {
            TestTenants.provision(TENANT);
        }
        tokens = new RememberedTokens(issuerDirectory, now::get);
    }

    @Test
    void aTokenIsVerifiedOnceUntilItExpires() {
        assertThat(ask("one").caller().username()).isEqualTo("user of one");
        now.set(EXPIRY.minusMillis(1));
        assertThat(ask("one").caller().username()).isEqualTo("user of one");
        assertThat(verifications).hasValue(1);
        assertThat(ask("two").caller().username()).isEqualTo("user of two");
        assertThat(verifications).hasValue(2);

        now.set(EXPIRY);
        ask("one");
        assertThat(verifications).hasValue(3);
        now.set(EXPIRY.plusSeconds(1));
        assertThat(tokens.evictExpired()).isEmpty();
        assertThat(tokens.size()).isZero();
    }

    @Test
    void aTokenIsVerifiedAgainAfterEachFetchOfItsRealmsKeys() {
        ask("one");
        tokens.recordKeyFetch("https://another.test/realms/" + TENANT);
        ask("one");
        assertThat(verifications).hasValue(1);

        tokens.recordKeyFetch(config.issuerOf(TENANT));
        ask("one");
        ask("one");
        assertThat(verifications).hasValue(2);
    }

    @Test
    void aFailedVerificationIsNotRemembered() {
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(() -> tokens.getOrVerify(token("forged"), () -> {
                                verifications.incrementAndGet();
                                return Uni.createFrom().failure(new UnauthorizedException());
                            })
                            .await()
                            .atMost(PATIENCE))
                    .isInstanceOf(UnauthorizedException.class);
        }
        assertThat(verifications).hasValue(2);
        assertThat(tokens.size()).isZero();
    }

    @Test
    void aDisabledUserIsRefusedWithAnyTokenFromBefore() {
        ask("one");
        tokens.setDisabled(TENANT, Set.of("subject of one"), BEGIN.plusSeconds(30));
        assertThatThrownBy(() -> ask("one")).isInstanceOf(UnauthorizedException.class);
        tokens.recordKeyFetch(config.issuerOf(TENANT));
        assertThatThrownBy(() -> ask("one")).isInstanceOf(UnauthorizedException.class);
        ask("two");

        tokens.setDisabled(TENANT, Set.of(), BEGIN.plusSeconds(60));
        ask("one");
    }

    @Test
    void theNumberOfTokensIsBounded() {
        for (int i = 0; i <= RememberedTokens.MAX_TOKENS; i++) {
            ask("token " + i);
        }
        assertThat(tokens.size()).isEqualTo(1);
    }

    private RememberedTokens.Verified ask(String name) {
        return tokens.getOrVerify(token(name), () -> {
                    verifications.incrementAndGet();
                    return Uni.createFrom().item(verified(name));
                })
                .await()
                .atMost(PATIENCE);
    }

    /** A token whose issuer can be read. */
    private String token(String name) {
        String claims = "{\"iss\":\"" + config.issuerOf(TENANT) + "\",\"of\":\"" + name + "\"}";
        return "header." + Base64.getUrlEncoder().encodeToString(claims.getBytes(StandardCharsets.UTF_8))
                + ".signature";
    }

    private RememberedTokens.Verified verified(String name) {
        Caller caller = new Caller(
                new Realm.Tenant(new TenantId(TENANT)),
                "subject of " + name,
                "user of " + name,
                Set.of(Role.MEMBER),
                Set.of(),
                Optional.empty(),
                Optional.empty(),
                "request");
        return new RememberedTokens.Verified(caller, config.issuerOf(TENANT), BEGIN, EXPIRY);
    }
}
