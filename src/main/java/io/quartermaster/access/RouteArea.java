package io.quartermaster.access;

import java.util.Optional;

/**
 * The part of the API that a route belongs to, by the path that its resource class declares. It does not depend on the
 * request. A route outside these parts has no area: the gate refuses it to every caller.
 */
enum RouteArea {
    OPERATOR("/v1/operator/"),
    TENANT("/v1/tenants/{tenant}/"),
    NODE("/v1/nodes/{node}/"),
    /** The description of the caller itself. */
    CALLER("/v1/me/");

    private final String root;

    RouteArea(String root) {
        this.root = root;
    }

    /** @param template the declared path of a route, such as {@code /v1/tenants/{tenant}/queues} */
    static Optional<RouteArea> of(String template) {
        for (RouteArea area : values()) {
            if ((template + "/").startsWith(area.root)) {
                return Optional.of(area);
            }
        }
        return Optional.empty();
    }
}
