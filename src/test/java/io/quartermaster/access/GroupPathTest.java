package io.quartermaster.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GroupPathTest {

    @Test
    void stepsAreAsLongAsKeycloakStoresThem() {
        assertThat(GroupPath.refusal("/rnd/" + "x".repeat(255))).isEmpty();
        assertThat(GroupPath.refusal("/rnd/" + "x".repeat(256))).contains("has a step of 256 characters");
        assertThat(GroupPath.refusal("/" + "\ud83d\ude00".repeat(255))).isEmpty();
        assertThat(GroupPath.refusal("/" + "x".repeat(255) + "/" + "y".repeat(255) + "/z"))
                .contains("is 514 characters long");
        assertThatThrownBy(() -> GroupPath.parseRequested("/" + "x".repeat(256)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("256");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/rnd/ ",
                "/ ",
                "/ rnd",
                "/rnd /a",
                "/a/\u00a0b",
                "/a\u3000",
                "/a\u202eb",
                "/a\nb",
                "/a\tb",
                "/.",
                "/a/..",
                "rnd",
                "/",
                "//",
                "/rnd/",
                ""
            })
    void pathsOfWhichNoGroupIsMadeAreRefused(String path) {
        assertThat(GroupPath.refusal(path)).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"/x~y", "/~", "/a b", "/50%", "/a;b=c", "/...", "/\u4e2d/\u00e9"})
    void pathsOfEveryOtherPrintableCharacterAreAccepted(String path) {
        assertThat(GroupPath.refusal(path)).isEmpty();
    }

    /** A tenant that an older version stored can be read and offboarded. */
    @Test
    void pathsThatWereStoredCanBeRead() {
        assertThat(new GroupPath("/" + "x".repeat(300)).value()).hasSize(301);
        assertThat(new GroupPath("/rnd/ ").value()).isEqualTo("/rnd/ ");
    }
}
