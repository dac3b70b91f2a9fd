package io.quartermaster.tenancy;

import static org.assertj.core.api.Assertions.assertThat;

import io.quartermaster.testing.Identity;
import io.restassured.path.json.JsonPath;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A browser at Keycloak's own pages, with their cookies: the portal's login with the code flow and PKCE, or any other
 * page.
 */
public final class Browser implements AutoCloseable {

    private static final String BACK = "http://127.0.0.1:8080/back";
    private static final String VERIFIER = "a-verifier-that-is-long-enough-for-the-standard";
    private static final Pattern ACTION = Pattern.compile("<form[^>]*action=\"([^\"]+)\"");
    private static final Pattern HIDDEN =
            Pattern.compile("<input type=\"hidden\" name=\"([^\"]+)\" value=\"([^\"]*)\"");
    private static final Pattern CODE = Pattern.compile("[?&]code=([^&]+)");

    private final HttpClient client = HttpClient.newHttpClient();
    /**
     * The cookies, kept by hand: like a real browser, and unlike Java's client, this one treats the loopback address as
     * a secure connection.
     */
    private final Map<String, String> cookies = new TreeMap<>();

    /** The address of the realm's endpoints; empty for a browser that opened another page. */
    private final String protocol;

    private HttpResponse<String> page;

    /** Opens the login page of a realm. */
    Browser(String realm) throws IOException, InterruptedException {
        protocol = Identity.url() + "/realms/" + realm + "/protocol/openid-connect";
        page = send(HttpRequest.newBuilder(URI.create(protocol + "/auth?"
                + form(Map.of(
                        "client_id",
                        "portal",
                        "response_type",
                        "code",
                        "scope",
                        "openid",
                        "redirect_uri",
                        BACK,
                        "code_challenge_method",
                        "S256",
                        "code_challenge",
                        challenge())))));
    }

    private Browser(String protocol, URI address) throws IOException, InterruptedException {
        this.protocol = protocol;
        page = send(HttpRequest.newBuilder(address));
        followRedirects();
    }

    /** Opens any page, such as that of a device code. */
    public static Browser at(URI address) throws IOException, InterruptedException {
        return new Browser("", address);
    }

    /** Fills in the current form and follows to the next page, unless that is the portal. */
    public void submit(Map<String, String> fields) throws IOException, InterruptedException {
        Matcher action = ACTION.matcher(page.body());
        assertThat(action.find()).as("a form in %s", page.body()).isTrue();
        Map<String, String> all = new TreeMap<>();
        HIDDEN.matcher(page.body()).results().forEach(field -> all.put(field.group(1), field.group(2)));
        all.putAll(fields);
        page = send(HttpRequest.newBuilder(
                        page.uri().resolve(URI.create(action.group(1).replace("&amp;", "&"))))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form(all))));
        followRedirects();
    }

    private void followRedirects() throws IOException, InterruptedException {
        while (page.statusCode() / 100 == 3 && !location().startsWith(BACK)) {
            page = send(HttpRequest.newBuilder(page.uri().resolve(URI.create(location()))));
        }
    }

    public String html() {
        return page.body();
    }

    /** The token that the portal gets for the code. */
    String token() throws IOException, InterruptedException {
        Matcher code = CODE.matcher(location());
        assertThat(code.find()).as("a code in %s", location()).isTrue();
        HttpResponse<String> answer = send(HttpRequest.newBuilder(URI.create(protocol + "/token"))
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form(Map.of(
                        "grant_type",
                        "authorization_code",
                        "client_id",
                        "portal",
                        "code",
                        code.group(1),
                        "redirect_uri",
                        BACK,
                        "code_verifier",
                        VERIFIER)))));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JsonPath.from(answer.body()).getString("access_token");
    }

    @Override
    public void close() {
        client.close();
    }

    private String location() {
        return page.headers().firstValue("Location").orElse("");
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        if (!cookies.isEmpty()) {
            request.header(
                    "Cookie",
                    cookies.entrySet().stream()
                            .map(cookie -> cookie.getKey() + "=" + cookie.getValue())
                            .collect(Collectors.joining("; ")));
        }
        HttpResponse<String> answer = client.send(request.build(), HttpResponse.BodyHandlers.ofString());
        for (String cookie : answer.headers().allValues("Set-Cookie")) {
            String[] pair = cookie.split(";", 2)[0].split("=", 2);
            cookies.put(pair[0], pair[1]);
        }
        return answer;
    }

    private static String form(Map<String, String> fields) {
        return new TreeMap<>(fields)
                .entrySet().stream()
                        .map(field ->
                                field.getKey() + "=" + URLEncoder.encode(field.getValue(), StandardCharsets.UTF_8))
                        .collect(Collectors.joining("&"));
    }

    private static String challenge() {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256").digest(VERIFIER.getBytes(StandardCharsets.US_ASCII));
            return Base64.getUrlEncoder().withoutPadding().encodeToString(hash);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
