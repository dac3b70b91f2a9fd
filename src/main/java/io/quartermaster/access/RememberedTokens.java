package io.quartermaster.access;

import io.quarkus.security.UnauthorizedException;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * The verified tokens of Keycloak, so that a token is verified once and not in each request. Only the hash of a token
 * is kept.
 *
 * <p>A token is forgotten when it expires, and when the keys of its realm are fetched again, since its key may have
 * been removed. It is refused once its user is found disabled, remembered or not. The status of its tenant is looked
 * up in each request, as for every token.
 *
 * <p>Safe for use by several threads.
 */
@ApplicationScoped
public class RememberedTokens {

    /** Far above the number of tokens that are in use at a time. At this size, all are forgotten. */
    static final int MAX_TOKENS = 20_000;

    private final IssuerDirectory issuerDirectory;
    private final InstantSource clock;
    private final Map<ByteBuffer, CachedToken> byHash = new ConcurrentHashMap<>();
    /** How many times the keys of a realm were fetched again, by issuer. */
    private final Map<String, Long> keyFetches = new ConcurrentHashMap<>();

    private final Map<String, DisabledUsers> disabledByRealm = new ConcurrentHashMap<>();

    /** The content of a verified token. */
    record Verified(Caller caller, String issuer, Instant issuedAt, Instant expiry) {

        String realm() {
            return caller.realm().word();
        }
    }

    /** @param keyFetches the number of fetches before the verification began */
    private record CachedToken(Verified verified, long keyFetches) {}

    /**
     * The disabled users of a realm.
     *
     * @param subjects of their tokens
     * @param before the time before which they were disabled
     */
    private record DisabledUsers(Set<String> subjects, Instant before) {}

    @Inject
    RememberedTokens(IssuerDirectory issuerDirectory) {
        this(issuerDirectory, InstantSource.system());
    }

    RememberedTokens(IssuerDirectory issuerDirectory, InstantSource clock) {
        this.issuerDirectory = issuerDirectory;
        this.clock = clock;
    }

    /**
     * The content of the token, remembered or from the verification, which then is remembered. Fails as the
     * verification does, and with {@link UnauthorizedException} if the token's user is disabled.
     */
    Uni<Verified> getOrVerify(String token, Supplier<Uni<Verified>> verification) {
        ByteBuffer hash = hash(token);
        return find(hash)
                .chain(known -> known.map(verified -> Uni.createFrom().item(verified))
                        .orElseGet(() -> verify(token, hash, verification)))
                .invoke(this::requireEnabled);
    }

    private Uni<Optional<Verified>> find(ByteBuffer hash) {
        CachedToken known = byHash.get(hash);
        if (known == null) {
            return Uni.createFrom().item(Optional.empty());
        }
        Verified verified = known.verified();
        if (hasExpired(verified) || known.keyFetches() != keyFetches(verified.issuer())) {
            byHash.remove(hash, known);
            return Uni.createFrom().item(Optional.empty());
        }
        // An issuer whose tokens are no longer valid gets the answer of an unknown one.
        return issuerDirectory
                .find(verified.issuer())
                .map(realm -> realm.filter(verified.caller().realm()::equals).map(same -> verified));
    }

    private Uni<Verified> verify(String token, ByteBuffer hash, Supplier<Uni<Verified>> verification) {
        long fetchesBefore =
                RealmResolver.unverifiedIssuer(token).map(this::keyFetches).orElse(0L);
        return verification.get().invoke(verified -> {
            if (byHash.size() >= MAX_TOKENS) {
                byHash.clear();
            }
            byHash.put(hash, new CachedToken(verified, fetchesBefore));
        });
    }

    /** A token that was issued after the check belongs to a user who has been enabled again. */
    private void requireEnabled(Verified verified) {
        DisabledUsers disabled = disabledByRealm.get(verified.realm());
        if (disabled != null
                && disabled.subjects().contains(verified.caller().subject())
                && verified.issuedAt().isBefore(disabled.before())) {
            throw new UnauthorizedException();
        }
    }

    /** Forgets the tokens of the issuer whose verification began before now. Call it after each fetch of its keys. */
    void recordKeyFetch(String issuer) {
        keyFetches.merge(issuer, 1L, Long::sum);
    }

    /** Forgets expired tokens. Returns the realms whose users must be checked: those of the other tokens. */
    public Set<String> evictExpired() {
        Set<String> realms = new TreeSet<>();
        byHash.values().removeIf(known -> hasExpired(known.verified()));
        byHash.values().forEach(known -> realms.add(known.verified().realm()));
        disabledByRealm.keySet().retainAll(realms);
        return realms;
    }

    /**
     * Replaces the disabled users of a realm. Their tokens that were issued before this time are refused from now on.
     *
     * @param subjects the subjects of the users' tokens
     * @param checkedAt the time before Keycloak was asked for them
     */
    public void setDisabled(String realm, Set<String> subjects, Instant checkedAt) {
        if (subjects.isEmpty()) {
            disabledByRealm.remove(realm);
        } else {
            disabledByRealm.put(realm, new DisabledUsers(Set.copyOf(subjects), checkedAt));
        }
    }

    int size() {
        return byHash.size();
    }

    private boolean hasExpired(Verified verified) {
        return !clock.instant().isBefore(verified.expiry());
    }

    private long keyFetches(String issuer) {
        return keyFetches.getOrDefault(issuer, 0L);
    }

    private static ByteBuffer hash(String token) {
        try {
            return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.UTF_8)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
