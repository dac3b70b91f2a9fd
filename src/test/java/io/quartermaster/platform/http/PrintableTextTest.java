package io.quartermaster.platform.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class PrintableTextTest {

    @Test
    void namesOfAllScriptsArePrintable() {
        assertThat(List.of("train-1", "Überlauf", "学習", "نموذج", "🚀 run", "family 👩\u200d🔬"))
                .allMatch(PrintableText::isPrintable);
    }

    @Test
    void marksThatHideOrTurnTextAreNot() {
        assertThat(List.of("a\u202Eb", "a\u2066b", "a\u200Fb", "a\u0000b", "a\nb", "a\u2028b", "a\uD800b", "a\u061Cb"))
                .noneMatch(PrintableText::isPrintable);
    }
}
