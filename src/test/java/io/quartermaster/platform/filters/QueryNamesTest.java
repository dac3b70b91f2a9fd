package io.quartermaster.platform.filters;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.platform.http.PageRequest;
import io.quartermaster.platform.http.Problem;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.MultivaluedHashMap;
import jakarta.ws.rs.core.MultivaluedMap;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The query parameters that a route reads, and the refusal of all others. */
class QueryNamesTest {

    static class Things {
        void list(@PathParam("tenant") String tenant, @QueryParam("state") String state, @BeanParam PageRequest page) {}

        void get(@PathParam("tenant") String tenant) {}
    }

    private static Method route(String name) {
        return Arrays.stream(Things.class.getDeclaredMethods())
                .filter(method -> method.getName().equals(name))
                .findFirst()
                .orElseThrow();
    }

    private static Problem refused(String name, String value, String route) {
        MultivaluedMap<String, String> given = new MultivaluedHashMap<>();
        given.add(name, value);
        return QueryNames.refusal(given, QueryNames.readBy(route(route)))
                .orElseThrow()
                .problem();
    }

    @Test
    void aRouteReadsItsOwnParametersAndThoseOfItsBeans() {
        assertThat(QueryNames.readBy(route("list"))).containsOnlyKeys("pageSize", "pageToken", "state");
        assertThat(QueryNames.readBy(route("get"))).isEmpty();
    }

    @Test
    void whatItDoesNotReadIsRefusedWithWhatItDoes() {
        assertThat(refused("sate", "running", "list").errors())
                .containsExactly(
                        new Problem.Field("sate", "there is no such query parameter", "pageSize, pageToken, state"));
        assertThat(refused("state", "running", "get").errors())
                .containsExactly(new Problem.Field("state", "there is no such query parameter", "none"));
    }

    @Test
    void aTextWithNulIsRefusedByTheNameOfItsParameter() {
        assertThat(refused("state", "a\0b", "list").errors())
                .containsExactly(new Problem.Field("state", "it holds the character NUL", "a text without NUL"));
    }

    @Test
    void ofAParameterThatIsGivenTwiceNobodyKnowsWhichWasMeant() {
        MultivaluedMap<String, String> given = new MultivaluedHashMap<>();
        given.addAll("pageSize", "1", "2");
        given.addAll("group", "a", "b");
        var read = new TreeMap<>(QueryNames.readBy(route("list")));
        read.put("group", true);
        assertThat(QueryNames.refusal(given, read).orElseThrow().problem().errors())
                .containsExactly(new Problem.Field("pageSize", "it is given 2 times", "one value"));
    }

    @Test
    void whatItReadsPasses() {
        MultivaluedMap<String, String> given = new MultivaluedHashMap<>();
        given.add("state", "running");
        given.add("pageSize", "");
        assertThat(QueryNames.refusal(given, QueryNames.readBy(route("list")))).isEmpty();
    }
}
