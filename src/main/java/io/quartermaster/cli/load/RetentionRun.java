package io.quartermaster.cli.load;

import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Submits batches at a steady rate to a service with retentions of one minute, and measures how many rows stay longer.
 * It cancels waiting work after some time, directly in the tables of this run's own database, so that the leader's load
 * stays constant.
 */
public final class RetentionRun {

    /** The value of all retentions in this run. */
    public static final Duration RETENTION = Duration.ofSeconds(60);
    /** Rows that exceed the retention by this are overdue. */
    static final Duration TOLERANCE = Duration.ofSeconds(30);

    private static final Duration SAMPLE_INTERVAL = Duration.ofSeconds(5);
    private static final int MAX_IN_FLIGHT = 16;
    private static final int CANCEL_AFTER_SECONDS = 10;

    private static final String COUNT_OVERDUE =
            "select count(*), count(*) filter (where %s < clock_timestamp() - interval '"
                    + RETENTION.plus(TOLERANCE).toSeconds() + " seconds') from %s";

    private static final String CANCEL = """
            with cancelled as (
                update workload set wish = 'cancel'
                 where (tenant_id, id) in (
                     select tenant_id, id from workload where tenant_id = ? and state = 'waiting' and wish = 'run'
                        and submitted_at < clock_timestamp() - make_interval(secs => ?))
                returning tenant_id, id)
            insert into inbox (tenant_id, kind, ref) select tenant_id, 'workload', cast(id as text) from cancelled
            """;

    private final PrintWriter out;
    private final LoadClient client;
    private final String queue;
    private final ApiClient member;
    private final Database database;
    private final int perSecond;
    private final Duration time;

    private final AtomicLong accepted = new AtomicLong();
    private final AtomicLong refused = new AtomicLong();
    /** Batches that were due while the maximum number was in flight. */
    private long late;

    private OverdueShare feed = new OverdueShare(0, 0, 0);
    private OverdueShare keys = new OverdueShare(0, 0, 0);

    /** The address of the run's database, and the account that sees all of it. */
    public record Database(String address, String user, String password) {}

    /** The number of overdue rows at the worst moment: the number of all rows then, and the part in thousandths. */
    public record OverdueShare(long overdue, long rows, double worstPerMille) {

        OverdueShare orIfWorse(long nowOverdue, long nowRows) {
            double perMille = nowRows == 0 ? 0 : 1_000.0 * nowOverdue / nowRows;
            return perMille > worstPerMille || rows == 0
                    ? new OverdueShare(nowOverdue, nowRows, Math.max(perMille, worstPerMille))
                    : this;
        }
    }

    /** The result of the run. */
    public record Result(
            double acceptedPerSecond, long accepted, long refused, long late, OverdueShare feed, OverdueShare keys) {}

    public RetentionRun(
            PrintWriter out,
            LoadClient client,
            String queue,
            ApiClient member,
            Database database,
            int perSecond,
            Duration time) {
        this.out = out;
        this.client = client;
        this.queue = queue;
        this.member = member;
        this.database = database;
        this.perSecond = perSecond;
        this.time = time;
    }

    public Result run() {
        long begun = System.nanoTime();
        Thread sender = Thread.ofPlatform().daemon().name("sender").start(() -> sendBatches(begun));
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl("jdbc:postgresql://" + database.address() + "/quartermaster");
        try (Connection connection = source.getConnection(database.user(), database.password())) {
            while (System.nanoTime() - begun < time.toNanos()) {
                LockSupport.parkNanos(SAMPLE_INTERVAL.toNanos());
                sample(connection, begun);
                cancelOldWork(connection);
            }
            sender.join();
        } catch (SQLException e) {
            throw new ApiFailure("The database of the run: " + e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiFailure("Interrupted");
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        return new Result(accepted.get() / seconds, accepted.get(), refused.get(), late, feed, keys);
    }

    /** Sends a batch each time one is due, regardless of earlier ones, as long as not too many are in flight. */
    private void sendBatches(long begun) {
        long everyNanos = 1_000_000_000L * LoadRun.BATCH_SIZE / perSecond;
        Semaphore free = new Semaphore(MAX_IN_FLIGHT);
        try (ExecutorService pool = Executors.newFixedThreadPool(MAX_IN_FLIGHT)) {
            for (long number = 1; number * everyNanos < time.toNanos(); number++) {
                LockSupport.parkNanos(begun + number * everyNanos - System.nanoTime());
                if (!free.tryAcquire()) {
                    late++;
                    continue;
                }
                long each = number;
                pool.execute(() -> {
                    try {
                        submitBatch(each);
                    } finally {
                        free.release();
                    }
                });
            }
        }
    }

    private void submitBatch(long number) {
        try {
            boolean isAccepted = client.post(
                            "/workloads/batches",
                            member.validToken(),
                            LoadRun.batch(queue, number),
                            "retention-" + number)
                    .isPresent();
            (isAccepted ? accepted : refused).addAndGet(LoadRun.BATCH_SIZE);
        } catch (ApiFailure e) {
            refused.addAndGet(LoadRun.BATCH_SIZE);
            out.println(e.getMessage());
        }
    }

    private void sample(Connection connection, long begun) throws SQLException {
        List<Long> feedNow = numbers(connection, COUNT_OVERDUE.formatted("at", "feed"));
        List<Long> keysNow = numbers(connection, COUNT_OVERDUE.formatted("created_at", "idempotency"));
        feed = feed.orIfWorse(feedNow.get(1), feedNow.get(0));
        keys = keys.orIfWorse(keysNow.get(1), keysNow.get(0));
        out.printf(
                Locale.ROOT,
                "%4d s   %8d accepted   feed %8d rows, %6d overdue   answers to keys %5d, %3d overdue%n",
                (System.nanoTime() - begun) / 1_000_000_000,
                accepted.get(),
                feedNow.get(0),
                feedNow.get(1),
                keysNow.get(0),
                keysNow.get(1));
        out.flush();
    }

    private static List<Long> numbers(Connection connection, String query) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return List.of(rows.getLong(1), rows.getLong(2));
        }
    }

    private static void cancelOldWork(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(CANCEL)) {
            statement.setString(1, LoadWorld.TENANT);
            statement.setInt(2, CANCEL_AFTER_SECONDS);
            statement.executeUpdate();
        }
    }

    public static String markdown(Result result, int perSecond, Duration time, List<String> conditions) {
        StringBuilder text = new StringBuilder("# Retention under load\n\n");
        text.append("Made by `qm load --retention-minutes`. All retentions are ")
                .append(RETENTION.toSeconds())
                .append(" s; batches of 1,000 submissions were due at ")
                .append(perSecond)
                .append(" submissions/s for ")
                .append(time.toMinutes())
                .append(" minutes, each with an idempotency key; work that had waited for ")
                .append(CANCEL_AFTER_SECONDS)
                .append(" s was cancelled. A row is overdue when it is ")
                .append(RETENTION.plus(TOLERANCE).toSeconds())
                .append(" s old.\n\n");
        conditions.forEach(line -> text.append("- ").append(line).append('\n'));
        text.append(String.format(
                Locale.ROOT,
                "%n| accepted | accepted /s | refused | not sent, 16 batches in flight | feed: overdue of rows, "
                        + "at worst | answers to keys: overdue of rows, at worst |%n"
                        + "| ---: | ---: | ---: | ---: | ---: | ---: |%n"
                        + "| %d | %.0f | %d | %d | %d of %d (%.1f per mille) | %d of %d (%.1f per mille) |%n",
                result.accepted(),
                result.acceptedPerSecond(),
                result.refused(),
                result.late() * LoadRun.BATCH_SIZE,
                result.feed().overdue(),
                result.feed().rows(),
                result.feed().worstPerMille(),
                result.keys().overdue(),
                result.keys().rows(),
                result.keys().worstPerMille()));
        return text.toString();
    }
}
