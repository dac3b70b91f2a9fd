package io.quartermaster.platform.filters;

import io.quarkus.vertx.http.HttpServerOptionsCustomizer;
import io.vertx.core.http.HttpServerOptions;
import jakarta.inject.Singleton;

/**
 * Disables HTTP/2 without TLS: no client needs it, and a caller could keep a connection alive forever while it reads
 * nothing. Over TLS, HTTP/2 stays available.
 */
@Singleton
public class PlainHttpOptions implements HttpServerOptionsCustomizer {

    @Override
    public void customizeHttpServer(HttpServerOptions options) {
        options.setHttp2ClearTextEnabled(false);
    }
}
