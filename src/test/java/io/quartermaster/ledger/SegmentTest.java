package io.quartermaster.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SegmentTest {
    private static final Segment.Held HELD = new Segment.Held(
            new AllocationId("a"), Standing.WITHIN, Phase.RUNNING, RandomHistory.marks(new PolicyId("nlp"), "job"));

    @Test
    void theIdNeverChangesBecauseItIsOnOthersBills() {
        assertThat(segment(10, 20, 500).id()).hasToString("a6ab9fb3-7c24-862b-b8d3-e77619632b41");
        assertThat(idle(10, 20, 500).id()).hasToString("580a0914-69c8-8da7-a899-07cc5f75ac8e");
    }

    @Test
    void theIdIsAUuidOfVersionEight() {
        assertThat(idle(1, 2, 3).id().version()).isEqualTo(8);
        assertThat(idle(1, 2, 3).id().variant()).isEqualTo(2);
    }

    @Test
    void aSegmentThatGrowsKeepsItsId() {
        assertThat(segment(10, 30, 500).id()).isEqualTo(segment(10, 20, 500).id());
        assertThat(segment(11, 20, 500).id()).isNotEqualTo(segment(10, 20, 500).id());
    }

    @Test
    void theCanonicalTextIsOneLinePerField() {
        assertThat(idle(10, 20, 500).canonicalText())
                .isEqualTo("segment\nid=" + idle(10, 20, 500).id()
                        + "\ntenant=acme\npool=h100\nclass=RESERVED_IDLE\ngpuMilli=500\nfrom=10\nto=20");
        assertThat(segment(10, 20, 500).canonicalText())
                .endsWith("\nallocation=a\nstanding=WITHIN\nphase=RUNNING\npolicy=nlp\ngroup=/research/nlp"
                        + "\nprofile=train\nqueue=train-nlp\nworkload=job\nattempt=job-1\nuser=ada\ncluster=c1"
                        + "\npreemptible=true");
    }

    @Test
    void aLineEndInANameCannotForgeAField() {
        String forged = "job\nattempt=other";
        Segment.Held held = new Segment.Held(
                new AllocationId("a"),
                Standing.WITHIN,
                Phase.RUNNING,
                RandomHistory.marks(new PolicyId("nlp"), forged));
        Segment segment = Segment.held(new TenantKey("acme"), new PoolKey("h100"), UsageClass.RESERVED, held, 1, 0, 1);

        assertThat(segment.canonicalText()).contains("workload=job\\nattempt=other\n");
    }

    @Test
    void aSegmentWithoutLabelsIsOfFormat1AndKeepsItsText() {
        assertThat(segment(10, 20, 500).format()).isEqualTo(1);
        assertThat(idle(10, 20, 500).format()).isEqualTo(1);
        assertThat(segment(10, 20, 500).canonicalText()).doesNotContain("label", "Label");
    }

    @Test
    void labelsAreLinesOfTheirOwnInTheOrderOfTheirKeys() {
        Segment segment =
                labelled(Map.of("team", Optional.of("nlp"), "stage", Optional.empty(), "a/b", Optional.of("")));

        assertThat(segment.format()).isEqualTo(2);
        assertThat(segment.id()).isEqualTo(labelled(Map.of()).id());
        assertThat(segment.canonicalText())
                .isEqualTo(labelled(Map.of()).canonicalText() + "\nlabel.a/b=\nnoLabel.stage=\nlabel.team=nlp");
    }

    @Test
    void differentLabelsHaveDifferentTexts() {
        List<Map<String, Optional<String>>> all = List.of(
                Map.of(),
                Map.of("a", Optional.empty()),
                Map.of("a", Optional.of("")),
                Map.of("a", Optional.of("x")),
                Map.of("a", Optional.of("x\nlabel.b=y")),
                Map.of("a", Optional.of("x\\nlabel.b=y")),
                Map.of("a", Optional.of("x"), "b", Optional.of("y")),
                Map.of("a", Optional.of("x"), "b", Optional.empty()));

        assertThat(all.stream().map(labels -> labelled(labels).canonicalText())).doesNotHaveDuplicates();
    }

    @Test
    void aKeyThatCouldForgeALineIsRefused() {
        for (String key : List.of("", "a=b", "a\nb", "a b", "a\\b")) {
            assertThatThrownBy(() -> labelled(Map.of(key, Optional.of("x"))))
                    .as(key)
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static Segment labelled(Map<String, Optional<String>> labels) {
        Segment.Held held = new Segment.Held(
                new AllocationId("a"),
                Standing.WITHIN,
                Phase.RUNNING,
                RandomHistory.marks(new PolicyId("nlp"), "job", new UsageLabels(new TreeMap<>(labels))));
        return Segment.held(new TenantKey("acme"), new PoolKey("h100"), UsageClass.RESERVED, held, 1, 0, 1);
    }

    @Test
    void whatIsNotASegmentCannotBeMade() {
        assertThatThrownBy(() -> segment(20, 20, 500)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> segment(10, 20, 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Segment(
                        new TenantKey("acme"), new PoolKey("h100"), UsageClass.ON_DEMAND, Optional.empty(), 1, 0, 1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void theLargestSegmentOfAnHourFitsALong() {
        Segment segment = idle(0, BookState.HOUR_MILLIS, UsageEvent.MAX_GPU_MILLI);

        assertThat(segment.gpuMilliMillis()).isEqualTo(3_600_000_000_000_000_000L);
    }

    private static Segment segment(long from, long to, long gpuMilli) {
        return Segment.held(new TenantKey("acme"), new PoolKey("h100"), UsageClass.RESERVED, HELD, gpuMilli, from, to);
    }

    private static Segment idle(long from, long to, long gpuMilli) {
        return Segment.notHeld(
                new TenantKey("acme"), new PoolKey("h100"), UsageClass.RESERVED_IDLE, gpuMilli, from, to);
    }
}
