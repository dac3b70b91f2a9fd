package io.quartermaster.metering;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.quartermaster.ledger.AllocationId;
import io.quartermaster.ledger.AllocationMarks;
import io.quartermaster.ledger.Phase;
import io.quartermaster.ledger.PolicyId;
import io.quartermaster.ledger.PoolKey;
import io.quartermaster.ledger.Segment;
import io.quartermaster.ledger.Standing;
import io.quartermaster.ledger.TenantKey;
import io.quartermaster.ledger.UsageClass;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ExportFormatTest {

    private static final ExportMapping MAPPING = ExportMapping.parse("test", """
            format: 1
            columns:
              - { name: who, field: user }
              - { name: from, field: from }
              - { name: gpus, field: gpus }
              - { name: gpuHours, field: gpu-hours }
              - { name: group, field: group }
              - { name: number, field: number }
              - { name: preemptible, field: preemptible }
              - { name: millis, field: duration-millis }
            """);

    private static ExportRecord held(String user, String group) {
        AllocationMarks allocationMarks =
                new AllocationMarks(new PolicyId("p"), group, "large", "q", "w", "a", user, "here", true);
        Segment.Held held = new Segment.Held(new AllocationId("a"), Standing.WITHIN, Phase.RUNNING, allocationMarks);
        return new ExportRecord(
                new Segment(
                        new TenantKey("acme"),
                        new PoolKey("h100"),
                        UsageClass.RESERVED,
                        Optional.of(held),
                        2500,
                        1_000,
                        3_601_000),
                Optional.empty());
    }

    private static String line(ExportFormat format, ExportRecord exported) {
        StringBuilder line = new StringBuilder();
        format.write(MAPPING, exported, line);
        return line.toString();
    }

    private static String cell(String text) {
        StringBuilder cell = new StringBuilder();
        ExportFormat.cell(text, cell);
        return cell.toString();
    }

    @Test
    void jsonTextIsEscapedAsAJsonLibraryEscapesIt() {
        StringBuilder odd = new StringBuilder("é😀").appendCodePoint(0x2028);
        for (char c = 0; c < 0x80; c++) {
            odd.append(c);
        }
        assertThat(line(ExportFormat.JSONL, held(odd.toString(), "/a")))
                .startsWith("{\"who\":" + JsonNodeFactory.instance.textNode(odd.toString()) + ",");
    }

    @Test
    void csvQuotesWhatNeedsItAndDefusesFormulas() {
        assertThat(ExportFormat.CSV.header(MAPPING))
                .isEqualTo("who,from,gpus,gpuHours,group,number,preemptible,millis\r\n");
        assertThat(line(ExportFormat.CSV, held("=HYPERLINK(\"x\")", "/a,b")))
                .isEqualTo("\"'=HYPERLINK(\"\"x\"\")\",1970-01-01T00:00:01.000Z,2.5,2.5,\"/a,b\",,true,3600000\r\n");
        assertThat(cell("@x")).isEqualTo("\"'@x\"");
        assertThat(cell("-1+2")).isEqualTo("\"'-1+2\"");
        assertThat(cell("two\nlines")).isEqualTo("\"two\nlines\"");
        assertThat(cell("plain")).isEqualTo("plain");
    }

    @Test
    void jsonLinesKeepTextAndAmountsAsTextTruthsAndCountsAsThemselvesAndAbsenceAsNull() {
        assertThat(line(ExportFormat.JSONL, held("=a\"b", "/a")))
                .isEqualTo(
                        "{\"who\":\"=a\\\"b\",\"from\":\"1970-01-01T00:00:01.000Z\",\"gpus\":\"2.5\",\"gpuHours\":\"2.5\",\"group\":\"/a\",\"number\":null,\"preemptible\":true,\"millis\":3600000}\n");
    }

    @Test
    void theMappingOfTheProgramCanBeRead() throws IOException {
        String yaml = Files.readString(Path.of("billing", "usage-export.yaml"));
        assertThat(ExportMapping.parse("usage-export.yaml", yaml).columns())
                .extracting(ExportMapping.Column::field)
                .contains(ExportRecord.Field.ID, ExportRecord.Field.CLASS, ExportRecord.Field.GPU_MILLI_MILLIS);
    }

    @Test
    void whatTheMappingShouldNotSayIsRefusedWithItsLine() {
        assertRefused("format: 1\ncolumns:\n  - { name: a, field: colour }\n", 3, "no field colour");
        assertRefused("format: 2\ncolumns:\n  - { name: a, field: id }\n", 1, "format 1");
        assertRefused(
                "format: 1\ncolumns:\n  - { name: a, field: id }\n  - { name: a, field: to }\n", 4, "have the name a");
        assertRefused("format: 1\ncolumns:\n  - { name: '=a', field: id }\n", 3, "not a valid name");
        assertRefused("format: 1\nextra: 2\ncolumns:\n  - { name: a, field: id }\n", 2, "unknown key extra");
        assertRefused("format: 1\ncolumns: []\n", 2, "at least one");
        assertRefused("format: 1\n", 1, "columns is missing");
        assertRefused("", 1, "empty");
    }

    private static void assertRefused(String yaml, int line, String why) {
        assertThatThrownBy(() -> ExportMapping.parse("mapping.yaml", yaml))
                .isInstanceOf(ExportMapping.InvalidMapping.class)
                .hasMessageContaining("mapping.yaml, line " + line + ": ")
                .hasMessageContaining(why);
    }
}
