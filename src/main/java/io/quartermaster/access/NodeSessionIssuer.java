package io.quartermaster.access;

import io.quartermaster.platform.CallBatcher;
import io.quartermaster.platform.db.ExecutorDatabase;
import io.quartermaster.platform.http.ProblemException;
import io.smallrye.mutiny.Uni;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.mutiny.sqlclient.Row;
import io.vertx.mutiny.sqlclient.RowSet;
import io.vertx.mutiny.sqlclient.SqlConnection;
import io.vertx.mutiny.sqlclient.Tuple;
import jakarta.enterprise.context.ApplicationScoped;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Issues and checks the session tokens of nodes' agents, so that the renewal of a node's leases does not depend on
 * Keycloak.
 *
 * <p>An agent opens the first session with a token of Keycloak, each further one with a valid session. Only the hash of
 * a session's token is stored. A node's sessions end when its credential is replaced or removed; an older token of
 * Keycloak opens no session.
 */
@ApplicationScoped
public class NodeSessionIssuer {

    /** The prefix that distinguishes these tokens from Keycloak's, and that identifies a leaked token. */
    static final String PREFIX = "qm-node-";

    private static final Duration SESSION_LIFETIME = Duration.ofHours(24);
    private static final int TOKEN_BYTES = 32;

    /** The most sessions of one node. Each renewal leaves an old one; beyond the limit, the oldest is deleted. */
    private static final int MAX_SESSIONS_PER_NODE = 8;

    /** The most tokens that one query looks up: those of the calls that came during the query before. */
    private static final int MAX_TOKENS_PER_QUERY = 256;

    private static final Duration SEARCH_TIMEOUT = Duration.ofSeconds(5);

    private final ExecutorDatabase database;
    private final CallBatcher<Buffer, Optional<Session>> searchBatcher;
    private final SecureRandom random = new SecureRandom();

    NodeSessionIssuer(ExecutorDatabase database, Vertx vertx) {
        this.database = database;
        this.searchBatcher = new CallBatcher<>(vertx, MAX_TOKENS_PER_QUERY, SEARCH_TIMEOUT, this::search);
    }

    /** A new session. Only this answer shows its token. */
    public record NewSession(String token, Duration lifetime) {
        @Override
        public String toString() {
            return "session of a node";
        }
    }

    /** The agent that a session belongs to, and the session's expiry. */
    record AuthenticatedAgent(Caller agent, Instant expiry) {}

    /** A session that has not ended, of a node that is not retired. */
    private record Session(String node, Instant expiry) {}

    /** The client of the operator's realm that is the node's credential. */
    public static String clientId(String node) {
        return "node-" + node;
    }

    static boolean isToken(String token) {
        return token.startsWith(PREFIX);
    }

    /** The caller that the token's session belongs to; empty when the session has ended. */
    Uni<Optional<AuthenticatedAgent>> find(String token, String requestId) {
        return searchBatcher
                .call(hash(token))
                .map(session ->
                        session.map(found -> new AuthenticatedAgent(agent(found.node(), requestId), found.expiry())));
    }

    private Uni<List<Optional<Session>>> search(List<Buffer> hashes) {
        return database.on(connection -> connection
                .preparedQuery("select s.token_hash, n.name, s.expires_at from node_session s join node n on n.id = "
                        + "s.node_id where s.token_hash = any($1) and s.expires_at > clock_timestamp() and "
                        + "n.retired_at is null")
                .execute(Tuple.of(hashes.toArray(Buffer[]::new)))
                .map(rows -> {
                    Map<Buffer, Session> found = new HashMap<>();
                    rows.forEach(row -> found.put(
                            row.get(Buffer.class, "token_hash"),
                            new Session(
                                    row.getString("name"),
                                    row.getOffsetDateTime("expires_at").toInstant())));
                    return hashes.stream()
                            .map(hash -> Optional.ofNullable(found.get(hash)))
                            .toList();
                }));
    }

    /** The caller that a token of Keycloak for this node would describe. */
    private static Caller agent(String node, String requestId) {
        String client = clientId(node);
        return new Caller(
                new Realm.Operator(),
                client,
                Caller.SERVICE_ACCOUNT_PREFIX + client,
                Set.of(Role.AGENT),
                Set.of(),
                Optional.of(client),
                Optional.of(node),
                requestId);
    }

    /** Opens a session for the node, by the credential of this request. */
    public Uni<NewSession> open(String node, Credential credential) {
        byte[] bytes = new byte[TOKEN_BYTES];
        random.nextBytes(bytes);
        String token = PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        return database.in(connection -> lockNode(connection, node)
                        .chain(found -> requireValid(connection, found, credential)
                                .chain(() -> insert(connection, found.getUUID("id"), token))))
                .replaceWith(new NewSession(token, SESSION_LIFETIME));
    }

    /** Locks the node's row, so that its credential cannot be replaced until the transaction ends. */
    private static Uni<Row> lockNode(SqlConnection connection, String node) {
        return connection
                .preparedQuery(
                        "select id, credential_issued_at from node where name = $1 and retired_at is null for share")
                .execute(Tuple.of(node))
                .map(rows -> first(rows).orElseThrow(ProblemException::notFound));
    }

    private static Uni<Void> requireValid(SqlConnection connection, Row node, Credential presented) {
        return switch (presented) {
            case Credential.KeycloakToken(Instant issuedAt) -> {
                Instant credentialIssuedAt =
                        node.getOffsetDateTime("credential_issued_at").toInstant();
                yield issuedAt.isBefore(credentialIssuedAt)
                        ? Uni.createFrom()
                                .failure(ProblemException.conflict(
                                        "credential-is-newer",
                                        "the access token was issued at " + issuedAt
                                                + ", before the node's credential of "
                                                + credentialIssuedAt.atOffset(ZoneOffset.UTC)
                                                + "; get another access token with the current credential"))
                        : Uni.createFrom().voidItem();
            }
            case Credential.NodeSession(String token) ->
                connection
                        .preparedQuery("select 1 from node_session"
                                + " where token_hash = $1 and node_id = $2 and expires_at > clock_timestamp()")
                        .execute(Tuple.of(hash(token), node.getUUID("id")))
                        .invoke(rows -> {
                            if (rows.size() == 0) {
                                throw ProblemException.conflict(
                                        "session-has-ended",
                                        "the session has ended; open another with an access token of Keycloak");
                            }
                        })
                        .replaceWithVoid();
        };
    }

    private static Uni<Void> insert(SqlConnection connection, UUID node, String token) {
        return connection
                .preparedQuery("""
                        delete from node_session where node_id = $1 and (expires_at <= clock_timestamp()
                            or token_hash in (
                               select token_hash from node_session where node_id = $1 order by created_at desc,
                                   token_hash offset $2))
                        """)
                .execute(Tuple.of(node, MAX_SESSIONS_PER_NODE - 1))
                .chain(() -> connection
                        .preparedQuery("insert into node_session (token_hash, node_id, expires_at)"
                                + " values ($1, $2, clock_timestamp() + $3::bigint * interval '1 millisecond')")
                        .execute(Tuple.of(hash(token), node, SESSION_LIFETIME.toMillis())))
                .replaceWithVoid();
    }

    /**
     * Ends the sessions of a node and of earlier nodes with its name. From now on, only newer tokens of Keycloak open
     * sessions.
     */
    public Uni<Void> revoke(String node) {
        return database.in(connection -> connection
                .preparedQuery("update node set credential_issued_at = clock_timestamp() where name = $1")
                .execute(Tuple.of(node))
                .chain(() -> connection
                        .preparedQuery(
                                "delete from node_session where node_id in (select id from node where name = $1)")
                        .execute(Tuple.of(node)))
                .replaceWithVoid());
    }

    private static Buffer hash(String token) {
        try {
            return Buffer.buffer(
                    MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static Optional<Row> first(RowSet<Row> rows) {
        return rows.size() == 0 ? Optional.empty() : Optional.of(rows.iterator().next());
    }
}
