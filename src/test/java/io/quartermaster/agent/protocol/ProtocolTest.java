package io.quartermaster.agent.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.quartermaster.agent.protocol.AttemptOrder.Desired;
import io.quartermaster.agent.protocol.AttemptOrder.DeviceShare;
import io.quartermaster.agent.protocol.AttemptReport.Checkpoint;
import io.quartermaster.agent.protocol.AttemptReport.LogTail;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.agent.protocol.AttemptState.Paused;
import io.quartermaster.agent.protocol.AttemptState.Running;
import io.quartermaster.agent.protocol.AttemptState.Starting;
import io.quartermaster.agent.protocol.AttemptState.Stopping;
import io.quartermaster.agent.protocol.Inventory.Device;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.platform.http.JsonSettings;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class ProtocolTest {
    private static final UUID ID = UUID.fromString("01890a5d-ac96-774b-bcce-b302099a8057");
    private final ObjectMapper json = JsonMapper.builder().build();
    /** The service's mapper; those of service and agent are configured separately and must agree. */
    private final ObjectMapper service = JsonSettings.newMapper();

    @Test
    void aRequestIsReadAsItWasWritten() throws JsonProcessingException {
        SyncRequest request = new SyncRequest(
                1,
                "0.1.0",
                "boot",
                ID,
                ID,
                7,
                3,
                20_000,
                new Inventory(
                        List.of(new Device(0, "GPU-1", "NVIDIA H200", 143_771, true, false)),
                        16_000,
                        131_072,
                        Isolation.OS_USER,
                        false,
                        false,
                        new Inventory.Pausing(Inventory.PausedBy.CUDA_CHECKPOINT, 4)),
                "digest",
                List.of(
                        new AttemptReport(new UUID(7, 1), new Starting(), null, null, null),
                        new AttemptReport(
                                new UUID(7, 2),
                                new Running(5),
                                new Checkpoint("step-9", 4),
                                new LogTail("x\n", 2),
                                null),
                        new AttemptReport(new UUID(7, 3), new Stopping(null, StopReason.PREEMPTED), null, null, null),
                        new AttemptReport(new UUID(7, 4), new Paused(5L), null, null, 3L),
                        new AttemptReport(
                                new UUID(7, 5), new Ended(Outcome.OUT_OF_MEMORY, 137, 5L, 9, ""), null, null, 7L)));

        for (ObjectMapper reader : List.of(json, service)) {
            assertThat(reader.readValue(json.writeValueAsString(request), SyncRequest.class))
                    .isEqualTo(request);
        }
    }

    @Test
    void onlyWhatIsOverIsOfAnAgeAndNoneIsNegativeOrAbsurd() {
        Ended ended = new Ended(Outcome.SUCCEEDED, 0, 5L, 9, "");
        for (long age : List.of(-1L, Protocol.MAX_AGE_MILLIS + 1, Long.MAX_VALUE)) {
            assertThatThrownBy(() -> new AttemptReport(ID, ended, null, null, age))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("endedAgoMillis must be from 0 to " + Protocol.MAX_AGE_MILLIS);
        }
        assertThatThrownBy(() -> new AttemptReport(new UUID(7, 6), new Running(5), null, null, 1L))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("endedAgoMillis");
    }

    @Test
    void whatIsSentLaterIsOlder() {
        SyncRequest request = new SyncRequest(
                1,
                "0.1.0",
                "boot",
                ID,
                ID,
                7,
                3,
                20_000,
                new Inventory(List.of(), 1_000, 1_024, Isolation.NONE, false, false, null),
                null,
                List.of(
                        new AttemptReport(new UUID(7, 7), new Running(5), null, null, null),
                        new AttemptReport(new UUID(7, 8), new Ended(Outcome.SUCCEEDED, 0, 5L, 9, ""), null, null, 7L)));

        assertThat(request.agedBy(400).attempts())
                .extracting(AttemptReport::endedAgoMillis)
                .containsExactly(null, 407L);
    }

    private static final String WITHOUT_INVENTORY = """
            {"formatVersion": 1, "agentVersion": "0.1.0", "bootId": "boot", "sequence": 1, "appliedRevision": 0,
             "instanceId": "01890a5d-ac96-774b-bcce-b302099a8057", "waitMillis": 0, "attempts": []%s}
            """;

    @Test
    void aRequestHasAnInventoryOrTheDigestOfOne() throws JsonProcessingException {
        String inventory = ", \"inventory\": {\"devices\": [], \"cpuMilli\": 1, \"memoryMiB\": 1,"
                + " \"isolation\": \"none\", \"trustsTenants\": false, \"simulated\": true}";

        assertThat(json.readValue(WITHOUT_INVENTORY.formatted(inventory), SyncRequest.class)
                        .inventoryDigest())
                .isNull();
        assertThat(json.readValue(WITHOUT_INVENTORY.formatted(", \"inventoryDigest\": \"digest\""), SyncRequest.class)
                        .inventory())
                .isNull();
        assertThatThrownBy(() -> json.readValue(WITHOUT_INVENTORY.formatted(""), SyncRequest.class))
                .hasMessageContaining("inventory");
    }

    @Test
    void aReplyOfAServiceThatIsOlderThanDigestsHasNone() throws JsonProcessingException {
        SyncReply reply = json.readValue(
                "{\"formatVersion\":1,\"revision\":4,\"leaseMillis\":30000,\"attempts\":[],\"paused\":[],\"forget\":[]}",
                SyncReply.class);

        assertThat(reply.inventoryDigest()).isNull();
    }

    @Test
    void aReplyIsReadAsItWasWritten() throws JsonProcessingException {
        SyncReply reply = new SyncReply(
                1,
                4,
                60_000,
                List.of(
                        order("acme", new Desired.Run()),
                        order("acme", stop()),
                        order("acme", new Desired.Pause(30_000))),
                List.of(ID),
                List.of(ID),
                "digest");

        for (ObjectMapper writer : List.of(json, service)) {
            assertThat(json.readValue(writer.writeValueAsString(reply), SyncReply.class))
                    .isEqualTo(reply);
        }
    }

    @Test
    void statesAndWishesAreNamedInJson() throws JsonProcessingException {
        assertThat(json.writeValueAsString(new Running(5)))
                .isEqualTo("{\"state\":\"running\",\"startedAtEpochMillis\":5}");
        assertThat(json.writeValueAsString(stop()))
                .isEqualTo("{\"kind\":\"stop\",\"reason\":\"preempted\",\"graceMillis\":30000}");
    }

    @Test
    void aStopIsAStopAlsoForAReasonThatIsNotKnownYet() throws JsonProcessingException {
        assertThat(json.readValue("{\"kind\":\"stop\",\"reason\":\"incomplete\",\"graceMillis\":1}", Desired.class))
                .isEqualTo(new Desired.Stop(StopReason.INCOMPLETE, 1));
        assertThat(json.readValue("{\"kind\":\"stop\",\"reason\":\"of-tomorrow\",\"graceMillis\":1}", Desired.class))
                .isEqualTo(new Desired.Stop(StopReason.CANCELLED, 1));
    }

    @Test
    void whatOlderOnesDoNotSayIsLeftOut() throws JsonProcessingException {
        assertThat(json.readValue(
                                "{\"formatVersion\":1,\"revision\":1,\"leaseMillis\":1,\"attempts\":[],\"forget\":[]}",
                                SyncReply.class)
                        .paused())
                .isNull();
        assertThat(service.readValue(
                                "{\"devices\":[],\"cpuMilli\":1,\"memoryMiB\":1,\"isolation\":\"none\",\"trustsTenants\":true,\"simulated\":true}",
                                Inventory.class)
                        .pausing())
                .isNull();
    }

    @Test
    void namesThatWouldLeaveTheirFolderAreRefused() {
        for (String name : List.of("..", ".hidden", "a/b", "", "-rf", "a b")) {
            assertThatThrownBy(() -> order(name, new Desired.Run()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("tenant must match");
        }
    }

    private static Desired stop() {
        return new Desired.Stop(StopReason.PREEMPTED, 30_000);
    }

    private static AttemptOrder order(String tenant, Desired desired) {
        return new AttemptOrder(
                ID,
                ID,
                tenant,
                1,
                List.of("python", "train.py"),
                Map.of("A", "b"),
                List.of(new DeviceShare(0, 500)),
                "u-acme",
                "model-a",
                List.of("save"),
                3_600_000L,
                30_000,
                ID,
                desired);
    }

    @Test
    void anInventoryThatNoMachineHasIsRefused() {
        Device first = new Device(0, "GPU-1", "NVIDIA H200", 1, true, false);
        assertThatThrownBy(() -> new Inventory(List.of(first, first), 1, 1, Isolation.NONE, false, false, null))
                .hasMessageContaining("devices[1].index must be each index once, was 0 a second time");
        assertThatThrownBy(() -> new Inventory(List.of(), 1, Long.MAX_VALUE, Isolation.NONE, false, false, null))
                .hasMessageContaining("memoryMiB must be from 0 to");
        assertThatThrownBy(() -> new Device(256, "GPU-1", "NVIDIA H200", 1, true, false))
                .hasMessageContaining("index must be from 0 to 255");
        for (String uuid : List.of("GPU\0", "GPU\n", " ", "G".repeat(129))) {
            assertThatThrownBy(() -> new Device(0, uuid, "NVIDIA H200", 1, true, false))
                    .hasMessageContaining("uuid must be a text of 1 to 128 characters");
            assertThatThrownBy(() -> new Device(0, "GPU-1", uuid, 1, true, false))
                    .hasMessageContaining("model must be a text of 1 to 128 characters");
        }
    }

    @Test
    void whyAnAttemptEndedIsCutAtACharacterAndMarkedAsCut() {
        String detail = ended("\u20ac\ud83d\ude00".repeat(1_000_000)).detail();

        assertThat(detail.getBytes(StandardCharsets.UTF_8).length)
                .isBetween(Protocol.MAX_DETAIL_BYTES - 4, Protocol.MAX_DETAIL_BYTES);
        assertThat(detail).endsWith(" ... (cut)").matches("(?:\u20ac\ud83d\ude00)+\u20ac? \\.\\.\\. \\(cut\\)");
        assertThat(ended(detail).detail()).as("what was cut is not cut again").isEqualTo(detail);
        assertThat(ended("x".repeat(Protocol.MAX_DETAIL_BYTES)).detail()).doesNotContain("cut");
    }

    private static Ended ended(String detail) {
        return new Ended(Outcome.FAILED, 1, 5L, 9, detail);
    }

    @Test
    void timesThatNoClockShowsAreRefused() {
        for (long millis : List.of(-1L, Protocol.MAX_EPOCH_MILLIS + 1, Long.MAX_VALUE, Long.MIN_VALUE)) {
            assertThatThrownBy(() -> new Running(millis)).isInstanceOf(InvalidFieldException.class);
            assertThatThrownBy(() -> new Paused(millis)).isInstanceOf(InvalidFieldException.class);
            assertThatThrownBy(() -> new Stopping(millis, StopReason.CANCELLED))
                    .isInstanceOf(InvalidFieldException.class);
            assertThatThrownBy(() -> new Ended(Outcome.FAILED, 1, millis, 9, ""))
                    .isInstanceOf(InvalidFieldException.class);
            assertThatThrownBy(() -> new Ended(Outcome.FAILED, 1, 5L, millis, ""))
                    .hasMessageContaining("endedAtEpochMillis must be from 0 to 253402300799999, was " + millis);
        }
    }
}
