package io.quartermaster.embedded;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;

/** Loopback ports: is it free, does something answer. */
public final class Ports {

    private static final int CONNECT_MILLIS = 500;

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

    /** A port nobody listens on now; another program may take it before it is used. */
    public static int anyFree() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new StartFailure("No free port could be found: " + e.getMessage(), e);
        }
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
