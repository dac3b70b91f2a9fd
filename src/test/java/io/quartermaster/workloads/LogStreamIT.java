package io.quartermaster.workloads;

import static io.quartermaster.tenancy.TestTenants.memberToken;
import static io.quartermaster.tenancy.TestTenants.newAdminToken;
import static io.quartermaster.tenancy.TestTenants.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.hamcrest.Matchers.contains;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.quarkus.test.junit.QuarkusTest;
import io.quartermaster.testing.Identity;
import io.restassured.RestAssured;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

/** The output of workloads as a stream of server-sent events. */
@QuarkusTest
class LogStreamIT extends TwoTenantsWork {

    private static final ObjectMapper JSON = new ObjectMapper();

    /** An event as it was sent. */
    private record Event(String name, String id, JsonNode data) {}

    /** A stream that is read until the service ends it. */
    private static final class Reader {
        private final List<Event> events = new CopyOnWriteArrayList<>();
        private final CompletableFuture<Integer> end;
        private String name = "";
        private String id = "";

        Reader(String token, String path, String lastSeen) {
            HttpRequest.Builder request = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + RestAssured.port + path))
                    .header("Authorization", "Bearer " + token)
                    .header("Accept", "text/event-stream")
                    .timeout(PATIENCE);
            if (!lastSeen.isEmpty()) {
                request.header("Last-Event-ID", lastSeen);
            }
            end = HttpClient.newHttpClient()
                    .sendAsync(request.build(), HttpResponse.BodyHandlers.ofLines())
                    .thenApply(answer -> {
                        try (Stream<String> lines = answer.body()) {
                            lines.forEach(this::line);
                        }
                        return answer.statusCode();
                    });
        }

        private void line(String line) {
            if (line.startsWith("event: ")) {
                name = line.substring(7);
            } else if (line.startsWith("id: ")) {
                id = line.substring(4);
            } else if (line.startsWith("data: ")) {
                try {
                    events.add(new Event(name, id, JSON.readTree(line.substring(6))));
                } catch (java.io.IOException e) {
                    throw new java.io.UncheckedIOException(e);
                }
            }
        }

        List<String> lines() {
            return events.stream()
                    .filter(event -> event.name().equals("log"))
                    .map(event -> event.data().path("line").asText()
                            + (event.data().path("partial").asBoolean() ? "..." : ""))
                    .toList();
        }

        void awaitLines(String... lines) {
            Awaitility.await().atMost(PATIENCE).untilAsserted(() -> assertThat(lines())
                    .containsExactly(lines));
        }

        int awaitEnd() throws Exception {
            return end.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private static String path(String id) {
        return WORKLOADS + "/" + id + "/logs/stream";
    }

    private void output(String id, String text) {
        output(id, text, text.getBytes(StandardCharsets.UTF_8).length);
    }

    /** @param bytes the length of the output as it was written */
    private void output(String id, String text, long bytes) {
        rows.run(
                "update report r set log_tail = right($2, 200), log_bytes = $3, reported_at = clock_timestamp() from attempt a "
                        + "where a.id = r.attempt_id and a.workload_id = $1 and a.state <> 'ended'",
                UUID.fromString(id),
                text,
                bytes);
    }

    private String running(String name) {
        String id = submit(name);
        eventually(id, "starting");
        rows.report(UUID.fromString(id), "running", "", "");
        dispatcher.wake();
        eventually(id, "running");
        return id;
    }

    @Test
    void aStreamHasEachLineOnceAndEndsWithTheWorkload() throws Exception {
        endAll();
        String id = running("streamed");
        output(id, "one\n");
        Reader reader = new Reader(member(), path(id), "");
        reader.awaitLines("one");
        output(id, "one\ntwo\nprog");
        reader.awaitLines("one", "two", "prog...");
        output(id, "one\ntwo\nprogress\nlast");
        reader.awaitLines("one", "two", "prog...", "ress", "last...");

        Event two = reader.events.get(1);
        assertThat(two.id()).isEqualTo("1:0:8");
        assertThat(two.data().path("attempt").asInt()).isEqualTo(1);
        assertThat(two.data().path("worker").asInt()).isZero();
        assertThat(two.data().path("stream").asText()).isEqualTo("combined");
        assertThat(two.data().path("at").asText()).startsWith("20");
        Reader resumed = new Reader(member(), path(id), two.id());
        resumed.awaitLines("progress", "last...");

        rows.report(UUID.fromString(id), "ended", "succeeded", "one\ntwo\nprogress\nlast");
        dispatcher.wake();
        eventually(id, "succeeded");
        assertThat(reader.awaitEnd()).isEqualTo(200);
        assertThat(resumed.awaitEnd()).isEqualTo(200);
        Event end = reader.events.getLast();
        assertThat(end.name()).isEqualTo("end");
        assertThat(end.data().path("state").asText()).isEqualTo("succeeded");
        assertThat(reader.lines()).hasSize(5);
    }

    @Test
    void aReaderIsToldOfOutputThatIsNotStoredAnyMoreAndGoesOnWithTheNextAttempt() throws Exception {
        endAll();
        String id = running("gaps");
        output(id, "first line\n");
        Reader reader = new Reader(member(), path(id), "");
        reader.awaitLines("first line");
        output(id, "x".repeat(1_000) + "\nlater\n");
        Awaitility.await().atMost(PATIENCE).until(() -> reader.lines().contains("later"));
        assertThat(reader.events).anySatisfy(event -> {
            assertThat(event.name()).isEqualTo("gap");
            assertThat(event.data().path("lostBytes").asLong()).isEqualTo(1_007 - 200 - 11);
        });

        // The node is lost: the workload starts again, with another attempt.
        rows.report(UUID.fromString(id), "ended", "preempted", "x\n");
        rows.run(
                "update attempt set stop_reason = 'preempted', state = 'stopping', stopping_at = clock_timestamp(), "
                        + "deadline_at = clock_timestamp() + interval '1 minute' where workload_id = $1",
                UUID.fromString(id));
        rows.inbox("report", id);
        dispatcher.wake();
        Awaitility.await().atMost(PATIENCE).until(() -> get(id).<Integer>path("workload.attempts") == 2);
        rows.report(UUID.fromString(id), "running", "", "");
        dispatcher.wake();
        eventually(id, "running");
        output(id, "second attempt\n");
        Awaitility.await().atMost(PATIENCE).until(() -> reader.lines().contains("second attempt"));
        assertThat(reader.events.getLast().id()).isEqualTo("2:0:15");

        Reader first = new Reader(member(), path(id) + "?attempt=1", "");
        assertThat(first.awaitEnd()).isEqualTo(200);
        assertThat(first.events.getLast().name()).isEqualTo("end");
        endAll();
        assertThat(reader.awaitEnd()).isEqualTo(200);
    }

    @Test
    void bytesThatAreNotTextAreSentOnceAndNoCharacterIsCut() throws Exception {
        endAll();
        String id = running("not-text");
        output(id, "\uFFFD\uFFFD\uFFFDone\n", 7);
        Reader reader = new Reader(member(), path(id), "");
        reader.awaitLines("\uFFFD\uFFFD\uFFFDone");
        // Two bytes of a character of three.
        output(id, "\uFFFD\uFFFD\uFFFDone\ntwo\n\uFFFD", 13);
        output(id, "\uFFFD\uFFFD\uFFFDone\ntwo\n\u4e16!\n", 16);
        reader.awaitLines("\uFFFD\uFFFD\uFFFDone", "two", "\u4e16!");
        assertThat(reader.events.getLast().id()).isEqualTo("1:0:16");
        // What follows comes after at least one more read of what was sent.
        output(id, "\uFFFD\uFFFD\uFFFDone\ntwo\n\u4e16!\nhalf \uFFFD", 22);
        output(id, "\uFFFD\uFFFD\uFFFDone\ntwo\n\u4e16!\nhalf \u4e16\n", 25);
        reader.awaitLines("\uFFFD\uFFFD\uFFFDone", "two", "\u4e16!", "half \u4e16");
        endAll();
        assertThat(reader.awaitEnd()).isEqualTo(200);
    }

    @Test
    void muchOutputComesWholeAndInOrder() throws Exception {
        endAll();
        String id = running("much");
        String text = "\n".repeat(16_000) + "last\n";
        rows.run(
                "update report r set log_tail = $2, log_bytes = $3, reported_at = clock_timestamp() from attempt a "
                        + "where a.id = r.attempt_id and a.workload_id = $1 and a.state <> 'ended'",
                UUID.fromString(id),
                text,
                (long) text.length());
        Reader reader = new Reader(member(), path(id), "");
        Awaitility.await().atMost(PATIENCE).until(() -> reader.lines().contains("last"));
        assertThat(reader.lines()).hasSize(16_001).endsWith("", "last");
        assertThat(reader.events.getLast().id()).isEqualTo("1:0:16005");
        endAll();
        assertThat(reader.awaitEnd()).isEqualTo(200);
        assertThat(reader.lines()).hasSize(16_001);
    }

    @Test
    void aStreamIsRefusedAsAProblemBeforeItBegins() {
        endAll();
        String id = running("refused");
        request(memberToken(B, "rnd-member")).get(path(id)).then().statusCode(404);
        request(memberToken(B, "rnd-member"))
                .get("/v1/tenants/" + B + "/workloads/" + id + "/logs/stream")
                .then()
                .statusCode(404);
        request(member()).get(path(UUID.randomUUID().toString())).then().statusCode(404);
        request(member()).queryParam("attempt", 7).get(path(id)).then().statusCode(404);
        for (String lastSeen : List.of("nonsense", "9:0:1")) {
            request(member())
                    .header("Last-Event-ID", lastSeen)
                    .get(path(id))
                    .then()
                    .statusCode(400)
                    .body("errors.field", contains("Last-Event-ID"));
        }
        endAll();
    }

    @Test
    void aStreamEndsWhenItsTokenDoes() throws Exception {
        String realm = "/admin/realms/" + B;
        UUID pool = rows.run("select id from pool where name = 'workloads'")
                .getFirst()
                .getUUID("id");
        String queue = new QueueRows(database, B).queue("/rnd/token", pool, 0, 0, 1, 10);
        String workload = request(memberToken(B, "rnd-member"))
                .body(with(training(queue, "waits"), "hold", true))
                .post("/v1/tenants/" + B + "/workloads")
                .then()
                .statusCode(201)
                .extract()
                .path("id");
        Identity.admin()
                .body(Map.of("accessTokenLifespan", 8))
                .put(realm)
                .then()
                .statusCode(204);
        String token;
        try {
            token = newAdminToken(B);
        } finally {
            Identity.admin().body(Map.of("accessTokenLifespan", 300)).put(realm);
        }

        Reader reader = new Reader(token, "/v1/tenants/" + B + "/workloads/" + workload + "/logs/stream", "");

        assertThat(reader.awaitEnd()).isEqualTo(200);
        assertThat(reader.events).noneMatch(event -> event.name().equals("end"));
    }
}
