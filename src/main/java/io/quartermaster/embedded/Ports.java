package io.quartermaster.embedded;

import io.quartermaster.launch.StartFailure;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ThreadLocalRandom;

/** Checks of loopback ports: whether one is free, and whether a program answers on it. */
public final class Ports {

    private static final int CONNECT_MILLIS = 500;
    private static final int LOWEST_FREE = 10_000;
    /** The default of Linux; other systems begin higher. */
    private static final int LOWEST_EPHEMERAL = 32_768;

    private static final int MAX_ATTEMPTS = 1_000;

    private Ports() {}

    /** Fails when another program already listens on the port; the message names the setting that changes it. */
    public static void requireFree(int port, String owner, String settings) {
        if (answers(port) || !isBindable(port)) {
            throw new StartFailure("Port " + port + " (for " + owner
                    + ") is used by another program. Stop that program, or choose another port with " + settings + ".");
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
     * A port on which no program listens now; another program may take it first. It lies below the range of outgoing
     * connections. So no outgoing connection takes it while the program that should listen on it is restarting.
     */
    public static int anyFree() {
        for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
            int port = ThreadLocalRandom.current().nextInt(LOWEST_FREE, LOWEST_EPHEMERAL);
            if (!answers(port) && isBindable(port)) {
                return port;
            }
        }
        throw new StartFailure("Found no free port from " + LOWEST_FREE + " to " + (LOWEST_EPHEMERAL - 1) + ".");
    }

    private static boolean isBindable(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException taken) {
            return false;
        }
    }
}
