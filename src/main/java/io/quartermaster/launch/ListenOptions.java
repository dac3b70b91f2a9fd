package io.quartermaster.launch;

import picocli.CommandLine.Option;

/** Where the service listens. */
public final class ListenOptions {

    @Option(
            names = "--http-port",
            defaultValue = "${env:QM_HTTP_PORT:-8080}",
            description = "Port of the API. Default: QM_HTTP_PORT, else 8080")
    private int httpPort;

    @Option(
            names = "--http-host",
            defaultValue = "${env:QM_HTTP_HOST:-127.0.0.1}",
            description = "Address the API listens on. Default: QM_HTTP_HOST, else 127.0.0.1, this machine only")
    private String httpHost;

    @Option(
            names = "--management-port",
            defaultValue = "${env:QM_MANAGEMENT_PORT:-8081}",
            description = "Port of health and metrics. Default: QM_MANAGEMENT_PORT, else 8081")
    private int managementPort;

    @Option(
            names = "--management-host",
            defaultValue = "${env:QM_MANAGEMENT_HOST:-127.0.0.1}",
            description = {
                "Address health and metrics listen on. They ask for no token.",
                "Default: QM_MANAGEMENT_HOST, else 127.0.0.1, this machine only"
            })
    private String managementHost;

    @Option(
            names = "--trusted-proxies",
            defaultValue = "${env:QM_TRUSTED_PROXIES:-}",
            description = {
                "Proxies in front of the API, as addresses or networks with commas between them. From them the API takes"
                        + " X-Forwarded-For, which they must replace, not extend.",
                "Default: QM_TRUSTED_PROXIES, else none"
            })
    private String trustedProxies;

    /** Set by picocli when it parses the command line. */
    @SuppressWarnings("NullAway.Init")
    public ListenOptions() {}

    public int httpPort() {
        return httpPort;
    }

    public String httpHost() {
        return httpHost;
    }

    public int managementPort() {
        return managementPort;
    }

    /** Sets the properties that the service reads when it starts in this process. */
    public void apply() {
        System.setProperty("quarkus.http.host", httpHost);
        System.setProperty("quarkus.http.port", Integer.toString(httpPort));
        if (!trustedProxies.isBlank()) {
            System.setProperty("quarkus.http.proxy.proxy-address-forwarding", "true");
            System.setProperty("quarkus.http.proxy.allow-x-forwarded", "true");
            System.setProperty("quarkus.http.proxy.trusted-proxies", trustedProxies);
        }
        System.setProperty("quarkus.management.host", managementHost);
        System.setProperty("quarkus.management.port", Integer.toString(managementPort));
    }
}
