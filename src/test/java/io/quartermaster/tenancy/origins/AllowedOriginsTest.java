package io.quartermaster.tenancy.origins;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.quartermaster.platform.http.ProblemException;
import java.util.List;
import org.junit.jupiter.api.Test;

class AllowedOriginsTest {

    @Test
    void originsAreWrittenAsBrowsersWriteThem() {
        assertThat(List.of(
                        "https://portal.example.com",
                        "https://portal.example.com:8443",
                        "http://localhost:3000",
                        "http://127.0.0.1:5173",
                        "https://[2001:db8::1]"))
                .allMatch(AllowedOrigins::isOrigin);
    }

    @Test
    void whatIsWiderOrLessThanAnOriginIsRefused() {
        assertThat(List.of(
                        "*",
                        "null",
                        "",
                        "https://*.example.com",
                        "https://portal.example.com/",
                        "https://portal.example.com/path",
                        "https://portal.example.com:443",
                        "https://Portal.example.com",
                        "https://user@portal.example.com",
                        "http://portal.example.com",
                        "ftp://portal.example.com",
                        "portal.example.com"))
                .noneMatch(AllowedOrigins::isOrigin);
    }

    @Test
    void eachOriginIsKeptOnceAndInOrder() {
        assertThat(AllowedOrigins.validate(new AllowedOrigins.Request(
                        List.of("https://b.example", "https://a.example", "https://b.example"))))
                .containsExactly("https://a.example", "https://b.example");
        assertThatThrownBy(() -> AllowedOrigins.validate(new AllowedOrigins.Request(List.of("https://a.example", "*"))))
                .isInstanceOfSatisfying(ProblemException.class, refused -> assertThat(
                                refused.problem().errors())
                        .extracting("field")
                        .containsExactly("origins[1]"));
    }
}
