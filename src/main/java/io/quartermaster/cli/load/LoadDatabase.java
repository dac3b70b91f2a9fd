package io.quartermaster.cli.load;

import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.postgresql.ds.PGSimpleDataSource;

/** The database of a load run's own service, with an account that sees all of it. */
public record LoadDatabase(String address, String user, String password) {

    private static final String NODES = """
            insert into node (id, name, cluster_id, pool_id)
            select gen_random_uuid(), x.name, c.id, p.id
              from unnest(?) as x(name), cluster c, pool p where c.name = ? and p.name = ?
            """;

    private static final String SESSIONS = """
            insert into node_session (token_hash, node_id, expires_at)
            select decode(x.hash, 'hex'), n.id, clock_timestamp() + interval '1 day'
              from unnest(?, ?) as x(name, hash) join node n on n.name = x.name and n.retired_at is null
            """;

    /** Registers nodes of a cluster and a pool, and a session of each by the hash of its token. */
    void register(List<String> names, List<String> hashes, String cluster, String pool) {
        try (Connection connection = open()) {
            connection.setAutoCommit(false);
            try (PreparedStatement nodes = connection.prepareStatement(NODES);
                    PreparedStatement sessions = connection.prepareStatement(SESSIONS)) {
                nodes.setArray(1, connection.createArrayOf("text", names.toArray()));
                nodes.setString(2, cluster);
                nodes.setString(3, pool);
                nodes.executeUpdate();
                sessions.setArray(1, connection.createArrayOf("text", names.toArray()));
                sessions.setArray(2, connection.createArrayOf("text", hashes.toArray()));
                sessions.executeUpdate();
            }
            connection.commit();
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    /** The stamps of the plans that bound the attempts since this time, by attempt. */
    Map<UUID, Instant> boundSince(Instant since) {
        Map<UUID, Instant> bound = new HashMap<>();
        try (Connection connection = open();
                PreparedStatement statement =
                        connection.prepareStatement("select id, bound_at from attempt where bound_at >= ?")) {
            statement.setTimestamp(1, Timestamp.from(since));
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    bound.put(
                            rows.getObject("id", UUID.class),
                            rows.getTimestamp("bound_at").toInstant());
                }
            }
        } catch (SQLException e) {
            throw failure(e);
        }
        return bound;
    }

    /** The number of nodes that the leader has given up since the start of the service. */
    long lostNodes() {
        try (Connection connection = open();
                PreparedStatement statement =
                        connection.prepareStatement("select count(*) from node_contact where lost_at is not null");
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getLong(1);
        } catch (SQLException e) {
            throw failure(e);
        }
    }

    private Connection open() throws SQLException {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl("jdbc:postgresql://" + address + "/quartermaster");
        return source.getConnection(user, password);
    }

    private static ApiFailure failure(SQLException e) {
        return new ApiFailure("The database of the run: " + e.getMessage());
    }
}
