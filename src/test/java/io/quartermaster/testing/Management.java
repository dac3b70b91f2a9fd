package io.quartermaster.testing;

import static io.restassured.RestAssured.given;

import io.restassured.specification.RequestSpecification;
import java.net.URI;
import org.eclipse.microprofile.config.ConfigProvider;

/** The listener for health and metrics. */
public final class Management {

    private Management() {}

    public static RequestSpecification request() {
        URI address = address();
        return given().baseUri(address.getScheme() + "://" + address.getHost()).port(address.getPort());
    }

    public static URI address() {
        return URI.create(ConfigProvider.getConfig().getValue("test.management.url", String.class));
    }
}
