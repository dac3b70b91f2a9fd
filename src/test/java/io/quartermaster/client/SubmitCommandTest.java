package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Submissions, clones and edits: their bodies, keys and repetitions. */
class SubmitCommandTest extends CommandTest {

    @Test
    void anUnavailableServiceIsAskedAgainWithTheSameKey() {
        api.given(
                        "POST " + WORKLOADS,
                        503,
                        "{\"code\":\"unavailable\",\"detail\":\"later\"}",
                        Map.of("Retry-After", "0"))
                .given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"train.py\"}");

        ClientRun.Result result = client.run("submit", "-q", "q", "-o", "name", "--", "python", "train.py");

        assertThat(result.line()).isEqualTo(ID);
        assertThat(api.requests()).hasSize(2);
        assertThat(api.requests().stream().map(FakeApi.Request::idempotencyKey).distinct())
                .singleElement()
                .asString()
                .hasSizeGreaterThan(20);
    }

    @Test
    void aFullQueueIsARefusalThatIsNotRepeated() {
        api.given(
                "POST " + WORKLOADS,
                429,
                "{\"code\":\"queue-full\",\"detail\":\"queue q is full\"}",
                Map.of("Retry-After", "1"));

        ClientRun.Result result = client.run("submit", "-q", "q", "--", "true");

        assertThat(result.exitCode()).isEqualTo(5);
        assertThat(api.requests()).hasSize(1);
    }

    @Test
    void optionsAndFilesMakeOneBody(@TempDir Path folder) throws Exception {
        api.given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"n\"}");
        Path file = Files.writeString(
                folder.resolve("job.yaml"),
                "queue: other\nname: from-file\ngpus: 1\nenvironment: {A: x, B: y}\ncommand: [a]\n");
        client.with("OWN", "mine");

        ClientRun.Result result = client.run(
                "submit",
                "-f",
                file.toString(),
                "-q",
                "q",
                "--gpus",
                "4",
                "-e",
                "B=z=1",
                "-e",
                "OWN",
                "-l",
                "team=nlp",
                "--max-runtime",
                "2h",
                "--no-preemptible",
                "--on-stop",
                "save now",
                "--hold",
                "python",
                "train.py",
                "--lr",
                "3");

        assertThat(result.err()).doesNotContain("error");
        assertThat(new ObjectMapper().readTree(api.requests().getFirst().body()))
                .isEqualTo(new ObjectMapper().readTree("""
                        {"queue":"q","name":"from-file","type":"training","gpus":"4","maxRuntime":"PT2H","hold":true,
                         "preemptible":false,"environment":{"A":"x","B":"z=1","OWN":"mine"},"labels":{"team":"nlp"},
                         "abortCallback":["sh","-c","save now"],"command":["python","train.py","--lr","3"]}"""));
    }

    @Test
    void noWordIsReplacedByAFile(@TempDir Path folder) throws Exception {
        api.given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"n\"}");
        String word = "@" + Files.writeString(folder.resolve("file"), "--hold\nsecret\n");

        client.run("submit", "-q", "q", "-e", word + "=" + word, "-l", "l=@@x", "--", "sh", word, "@@x");

        assertThat(new ObjectMapper().readTree(api.requests().getFirst().body()))
                .isEqualTo(new ObjectMapper().readTree("""
                        {"queue":"q","environment":{"WORD":"WORD"},"labels":{"l":"@@x"},"name":"file","type":"training",
                         "command":["sh","WORD","@@x"]}""".replace("WORD", word)));
    }

    @Test
    void optionsAddToAMappingOnly(@TempDir Path folder) throws Exception {
        Path file = Files.writeString(folder.resolve("job.yaml"), "queue: q\nenvironment: none\ncommand: [a]\n");

        ClientRun.Result result = client.run("submit", "-f", file.toString(), "-e", "A=1");

        assertThat(result.exitCode()).isEqualTo(2);
        assertThat(result.err()).startsWith("qm: environment in the file is no mapping of names to values");
    }

    @Test
    void aCloneSendsWhatDiffers() throws Exception {
        api.given("POST " + WORKLOADS + "/" + ID + "/clone", 201, "{\"id\":\"" + ID + "\",\"name\":\"again\"}");

        ClientRun.Result result = client.run(
                "clone", ID, "--name", "again", "-e", "SEED=8", "--max-runtime", "90m", "-o", "name", "--", "a", "-b");

        assertThat(result.line()).as(result.err()).isEqualTo(ID);
        assertThat(new ObjectMapper().readTree(api.requests().getFirst().body()))
                .isEqualTo(new ObjectMapper().readTree("""
                        {"name":"again","environment":{"SEED":"8"},"maxRuntime":"PT1H30M","command":["a","-b"]}"""));
    }

    @Test
    void anEditIsAPatchOfTheVersionThatWasRead() throws Exception {
        api.given("GET " + WORKLOADS + "/" + ID, 200, "{\"workload\":" + WORKLOAD + "}", Map.of("ETag", "\"7\""))
                .given("PATCH " + WORKLOADS + "/" + ID, 200, WORKLOAD);

        ClientRun.Result result =
                client.run("edit", ID, "--priority", "60", "--max-runtime", "none", "-l", "a=1", "--remove-label", "b");

        assertThat(result.out()).as(result.err()).isEqualTo("train is changed.\n");
        FakeApi.Request patch = api.requests().getLast();
        assertThat(patch.method()).isEqualTo("PATCH");
        assertThat(patch.ifMatch()).isEqualTo("\"7\"");
        assertThat(new ObjectMapper().readTree(patch.body())).isEqualTo(new ObjectMapper().readTree("""
                        {"priority":60,"maxRuntime":null,"labels":{"b":null,"a":"1"}}"""));
    }

    @Test
    void aSubmissionWhoseAnswerIsLostCanBeRepeatedUnderItsKey() {
        api.given("POST " + WORKLOADS, 500, "{\"detail\":\"a fault\"}")
                .given("POST " + WORKLOADS, 201, "{\"id\":\"" + ID + "\",\"name\":\"true\"}");

        ClientRun.Result lost = client.run("submit", "-q", "q", "--", "true");
        String key = api.requests().getFirst().idempotencyKey();
        ClientRun.Result repeated =
                client.run("submit", "-q", "q", "--idempotency-key", key, "-o", "name", "--", "true");

        assertThat(lost.exitCode()).isEqualTo(6);
        assertThat(lost.err())
                .isEqualTo("qm: a fault\n  it may have been submitted; repeat the command with --idempotency-key " + key
                        + "\n");
        assertThat(repeated.line()).isEqualTo(ID);
        assertThat(api.requests().getLast().idempotencyKey()).isEqualTo(key);
    }
}
