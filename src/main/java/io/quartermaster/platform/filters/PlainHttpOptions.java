package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.http.HttpServerOptions;
import jakarta.inject.Singleton;

/**
 * Leaves HTTP/2 without TLS out: nothing uses it, and its callers could keep a connection alive for good while they read nothing. Over TLS, HTTP/2 stays.
 */
@Singleton
public class PlainHttpOptions implements HttpServerOptionsCustomizer {

    @Override
    public void customizeHttpServer(HttpServerOptions options) {
        options.setHttp2ClearTextEnabled(false);
    }
}
