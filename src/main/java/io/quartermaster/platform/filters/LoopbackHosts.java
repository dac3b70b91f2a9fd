package io.quartermaster.platform.filters;

import io.netty.util.NetUtil;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.net.HostAndPort;
import io.vertx.core.net.SocketAddress;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Checks that a request over the loopback interface names a loopback host. A web page can make a browser call this
 * machine under a name of the page's own (DNS rebinding); the {@code Host} of such a call is that name.
 */
final class LoopbackHosts {

    private LoopbackHosts() {}

    /** True also for a request over another interface, and for one without {@code Host}, which no browser sends. */
    static boolean isAcceptable(HttpServerRequest request) {
        SocketAddress local = request.localAddress();
        HostAndPort host = request.authority();
        return local == null || !isLoopback(local.hostAddress()) || host == null || isLoopbackName(host.host());
    }

    static boolean isLoopbackName(String host) {
        String name = host.toLowerCase(Locale.ROOT);
        return name.equals("localhost") || isLoopback(name);
    }

    /** Looks up no names. */
    private static boolean isLoopback(@Nullable String address) {
        byte[] bytes = address == null ? null : NetUtil.createByteArrayFromIpAddressString(address);
        try {
            return bytes != null && InetAddress.getByAddress(bytes).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new IllegalStateException("4 or 16 bytes are an address", e);
        }
    }
}
