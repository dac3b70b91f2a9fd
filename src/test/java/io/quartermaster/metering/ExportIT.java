package io.quartermaster.metering;

import static io.quartermaster.metering.BookRows.HOUR;
import static io.quartermaster.tenancy.TestTenants.operatorToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static io.quartermaster.tenancy.TestTenants.viewerToken;
import static org.assertj.core.api.Assertions.assertThat;

import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.ledger.Book;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.platform.db.SystemDatabase;
import io.quartermaster.tenancy.TestTenants;
import io.quartermaster.testing.Management;
import io.restassured.RestAssured;
import io.restassured.response.Response;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import jakarta.inject.Inject;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.hamcrest.Matchers;
import org.junit.jupiter.api.Test;

/** The guarantees of exports for their readers, and the limited effect of a slow reader on others. */
@QuarkusTest
class ExportIT {

    private static final String TENANT = "export-slow";
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    /** More than the buffers of a connection can hold. */
    private static final int RECORDS = 60_000;

    private static final int AT_ONCE = 5_000;

    @Inject
    SystemDatabase database;

    private final long start = BookRows.hoursAgo(3);

    private String window() {
        return "from=" + Instant.ofEpochMilli(start) + "&to=" + Instant.ofEpochMilli(start + HOUR);
    }

    private String path(BookRows rows) {
        return "/v1/operator/usage/export?tenant=" + rows.tenant + "&" + window();
    }

    /** A tenant without events, with one closed hour of this many records. */
    private BookRows closedHour(String tenant, int count) {
        BookRows rows = new BookRows(database, tenant);
        closedHour(rows, start + HOUR, 0, count);
        return rows;
    }

    /** A closed hour whose records follow number {@code after} of the chain. */
    private static void closedHour(BookRows rows, long hourEnd, int after, int count) {
        rows.run(
                """
                insert into closed_hour (tenant_id, hour_ms, through_seq, state, records, last_hash, closed_at)
                values ($1, $2, -1, cast(cast($3 as text) as jsonb), $4, decode(repeat('00', 32), 'hex'),
                    clock_timestamp())
                """,
                rows.tenant,
                hourEnd,
                BookStateJson.write(Book.empty(new TenantKey(rows.tenant)).state()),
                (long) after + count);
        for (int from = after; from < after + count; from += AT_ONCE) {
            rows.run("""
                    insert into segment (tenant_id, seq, id, hour_ms, pool, class, gpu_milli, from_ms, to_ms, format,
                        prev_hash, hash)
                    select $1, n, gen_random_uuid(), $2::bigint, $3, 'reserved-idle', 1000, $2::bigint - 3600000,
                        $2::bigint, 1, decode(repeat('ab', 32), 'hex'),
                           decode(repeat('ab', 32), 'hex')
                      from generate_series($4::int + 1, $5::int) n
                    """, rows.tenant, hourEnd, rows.poolName(), from, Math.min(after + count, from + AT_ONCE));
        }
    }

    /** A reader that sends its request and then reads nothing. */
    private static Socket slowReader(String path, String token) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(1_024);
        socket.connect(new InetSocketAddress("127.0.0.1", RestAssured.port));
        socket.getOutputStream()
                .write(("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\n\r\n")
                        .getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
        return socket;
    }

    private static void assertBrokenOff(Socket reader) throws IOException {
        reader.setSoTimeout(10_000);
        InputStream in = reader.getInputStream();
        StringBuilder end = new StringBuilder();
        byte[] bytes = new byte[65_536];
        try {
            for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
                end.append(new String(bytes, 0, n, StandardCharsets.US_ASCII));
            }
        } catch (SocketTimeoutException e) {
            throw new AssertionError("the connection is still open", e);
        } catch (IOException e) {
            // A reset is a broken connection as well.
        }
        assertThat(end.toString())
                .as("the last chunk would say that all was sent; of %s characters", end.length())
                .doesNotEndWith("0\r\n\r\n");
    }

    @Test
    void slowReadersKeepNothingFromOthersAndAreBrokenOff() throws IOException {
        TestTenants.provision(TENANT);
        BookRows rows = closedHour("export-slow-books", RECORDS);
        String path = path(rows);
        List<Socket> readers = new ArrayList<>();
        try {
            for (int i = 0; i < 2; i++) {
                readers.add(slowReader(path, operatorToken()));
            }
            Awaitility.await("both places of operators are taken")
                    .atMost(PATIENCE)
                    .until(() -> request(operatorToken()).head(path).statusCode() == 429);
            request(operatorToken())
                    .get(path)
                    .then()
                    .statusCode(429)
                    .contentType("application/problem+json")
                    .header("Retry-After", Matchers.notNullValue())
                    .body("code", Matchers.equalTo("too-many-exports"));

            for (String probe : List.of("/health/ready", "/health/live", "/metrics")) {
                assertThat(Management.request().get(probe).statusCode())
                        .as(probe)
                        .isEqualTo(200);
            }
            request(viewerToken(TENANT))
                    .get("/v1/tenants/" + TENANT + "/usage/export?" + window())
                    .then()
                    .statusCode(200);

            Awaitility.await("the places come back").atMost(PATIENCE).until(() -> Management.request()
                    .get("/metrics")
                    .asString()
                    .contains("quartermaster_usage_exports 0.0"));
            for (Socket reader : readers) {
                assertBrokenOff(reader);
            }
        } finally {
            for (Socket reader : readers) {
                reader.close();
            }
        }
        assertThat(request(operatorToken()).get(path).asString().lines()).hasSize(RECORDS + 1);
    }

    @Test
    void aReaderThatGoesAwayLeavesItsPlace() throws IOException {
        BookRows rows = closedHour("export-gone", RECORDS);
        String path = path(rows) + "&format=jsonl";
        for (int i = 0; i < 4; i++) {
            slowReader(path, operatorToken()).close();
        }
        Awaitility.await().atMost(PATIENCE).until(() -> {
            Response all = request(operatorToken()).get(path);
            return all.statusCode() == 200 && all.asString().lines().count() == RECORDS;
        });
    }

    @Test
    void headersNameTheFileAndHeadHasNoBody() {
        String path = path(closedHour("export-head", 3)) + "&format=jsonl";
        Response got = request(operatorToken()).get(path);
        assertThat(got.contentType()).startsWith("application/jsonl");
        assertThat(got.header("Content-Disposition")).isEqualTo("attachment; filename=\"usage.jsonl\"");
        assertThat(got.asString().lines()).hasSize(3);
        Response head = request(operatorToken()).head(path);
        assertThat(head.statusCode()).isEqualTo(200);
        assertThat(head.asString()).isEmpty();
    }

    @Test
    void anExportHoldsTheRecordsOfItsHoursAlone() {
        BookRows rows = new BookRows(database, "export-hours");
        closedHour(rows, start, 0, 2);
        closedHour(rows, start + HOUR, 2, 1_500);
        closedHour(rows, start + 2 * HOUR, 1_502, 0);
        closedHour(rows, start + 3 * HOUR, 1_502, 3);

        List<Integer> numbers = request(operatorToken())
                .get(path(rows) + "&format=jsonl")
                .asString()
                .lines()
                .map(line -> new JsonObject(line).getInteger("number"))
                .toList();

        assertThat(numbers)
                .containsExactlyElementsOf(
                        IntStream.rangeClosed(3, 1_502).boxed().toList());
    }

    @Test
    void anExportThatLacksARecordIsBrokenOff() throws IOException {
        BookRows rows = new BookRows(database, "export-lacks");
        closedHour(rows, start + HOUR, 0, 2_500);
        closedHour(rows, start + 2 * HOUR, 2_501, 1);
        try (Socket reader = slowReader(
                path(rows)
                        .replace(
                                window(),
                                "from=" + Instant.ofEpochMilli(start) + "&to="
                                        + Instant.ofEpochMilli(start + 2 * HOUR)),
                operatorToken())) {
            assertBrokenOff(reader);
        }
    }

    @Test
    void aPageReadsItsOwnRecordsAloneWithoutKnowingTheNumbersWhenItIsPlanned() {
        BookRows rows = closedHour("export-plan", 20_000);
        Superuser.run("analyze segment");
        JsonObject plan = database.run(Duration.ofSeconds(20), tx -> {
            tx.run("set local plan_cache_mode = force_generic_plan");
            tx.run("prepare page (text, bigint, bigint) as " + SegmentStore.BETWEEN);
            try {
                return new JsonArray(tx.run("explain (analyze, buffers, format json) execute page ('" + rows.tenant
                                        + "', 10000, 11000)")
                                .iterator()
                                .next()
                                .getValue(0)
                                .toString())
                        .getJsonObject(0)
                        .getJsonObject("Plan");
            } finally {
                tx.run("deallocate page");
            }
        });

        assertThat(plan.getDouble("Actual Rows")).isEqualTo(1_000);
        assertThat(plan.getInteger("Shared Hit Blocks") + plan.getInteger("Shared Read Blocks"))
                .as("blocks, of several hundred that the hour has")
                .isLessThan(100);
    }

    @Test
    void whatIsOpenIsExportedOnRequestOnly() {
        BookRows rows = new BookRows(database, "export-open");
        long start = BookRows.hoursAgo(1);
        rows.reserved(start, 2);
        String path = "/v1/operator/usage/export?tenant=" + rows.tenant + "&from=" + Instant.ofEpochMilli(start)
                + "&to=" + Instant.ofEpochMilli(start + 2 * HOUR);
        request(operatorToken()).get(path).then().statusCode(409);
        assertThat(request(operatorToken())
                        .get(path + "&provisional=true&format=jsonl")
                        .asString()
                        .lines())
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).contains("reserved-idle"));
    }

    @Test
    void http2WithoutTlsIsNotSpoken() throws IOException {
        try (Socket socket = new Socket("127.0.0.1", RestAssured.port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream()
                    .write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1));
            socket.getOutputStream().flush();
            byte[] answer = socket.getInputStream().readNBytes(9);
            assertThat(new String(answer, StandardCharsets.ISO_8859_1))
                    .as("no frame of settings, which every connection of HTTP/2 begins with")
                    .matches("(?s)|HTTP/.*");
        }
    }
}
