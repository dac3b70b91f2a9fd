package io.quartermaster.embedded;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessMarkTest {

    private final ProcessMark self = ProcessMark.of(ProcessHandle.current());

    @Test
    void aProcessIsFoundByTheTextOfItsMark() {
        assertThat(ProcessMark.parse(self.toString()).flatMap(ProcessMark::find))
                .contains(ProcessHandle.current());
    }

    @Test
    void aPidUsedAgainIsAnotherProcess() {
        ProcessMark earlier = new ProcessMark(self.pid(), self.startMillis() - 60_000);

        assertThat(earlier.find()).isEmpty();
    }

    @Test
    void whatIsNoMarkIsNone() {
        assertThat(ProcessMark.parse("")).isEmpty();
        assertThat(ProcessMark.parse("12")).isEmpty();
        assertThat(ProcessMark.parse("12 x")).isEmpty();
    }
}
