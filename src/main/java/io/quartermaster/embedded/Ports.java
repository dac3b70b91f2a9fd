package io.quartermaster.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadLocalRandom;

/** Loopback ports: is it free, does something answer. */
public final class Ports {

    private static final int CONNECT_MILLIS = 500;
    private static final int LOWEST_FREE = 10_000;
    /** Linux's; other systems begin higher. */
    private static final int LOWEST_EPHEMERAL = 32_768;

    private static final int MOST_ATTEMPTS = 1_000;

    private Ports() {}

    /** Fails with the setting that changes the port when somebody else already listens on it. */
    public static void requireFree(int port, String owner, String settings) {
        if (answers(port) || !bindable(port)) {
            throw new StartFailure("Port " + port + " (for " + owner
                    + ") is used by another program. Stop that one, or choose another port with " + settings + ".");
        }
    }

    public static boolean answers(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), CONNECT_MILLIS);
            return true;
        } catch (IOException nobody) {
            return false;
        }
    }

    /**
     * A port nobody listens on now; another program may take it before it is used. It lies below those that systems give to outgoing
     * connections, so that no caller is given it while a program that was told to listen there is away.
     */
    public static int anyFree() {
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_FREE, LOWEST_EPHEMERAL);
            if (!answers(port) && bindable(port)) {
                return port;
            }
        }
        throw new StartFailure(
                "No free port could be found from " + LOWEST_FREE + " to " + (LOWEST_EPHEMERAL - 1) + ".");
    }

    private static boolean bindable(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }
}
