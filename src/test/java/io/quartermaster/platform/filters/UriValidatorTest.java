package io.quartermaster.platform.filters;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.platform.http.Problem;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class UriValidatorTest {

    @Test
    void thePartThatCannotBeReadIsNamed() {
        assertThat(place("/v1/x?a=1&pageSize=%zz&b=2")).contains("pageSize");
        assertThat(place("/v1/x?a=100%")).contains("a");
        assertThat(place("/v1/x?a%2=1")).contains("a%2");
        assertThat(place("/v1/x?a=1&b=[ ]")).contains("b");
        assertThat(place("/v1/%g0/x?a=1")).contains("path");
        assertThat(place("/v1/%")).contains("path");
        assertThat(place("mailto:somebody")).contains("path");
    }

    @Test
    void whatCanBeReadPasses() {
        assertThat(place("/v1/a%2Fb?group=%2Fresearch&x=100%25")).isEmpty();
        assertThat(place("/v1/x")).isEmpty();
        assertThat(place("/v1/x?")).isEmpty();
        assertThat(place("http://localhost:8080/v1/x?a=b")).isEmpty();
    }

    private static Optional<String> place(String uri) {
        return UriValidator.findMalformed(uri).map(Problem.Field::field);
    }
}
