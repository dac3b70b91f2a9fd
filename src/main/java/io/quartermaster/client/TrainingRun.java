package io.quartermaster.client;

import io.quartermaster.client.commands.ClientEnvironment;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/**
 * Runs some commands against a listener of its own, so that the JVM can record the classes that commands load. Later
 * commands start from that record (an AOT cache). It needs no service and changes no file.
 */
final class TrainingRun {

    private static final byte[] ANSWER = ("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n"
                    + "X-Request-Id: training\r\n\r\n{\"items\":[]}")
            .getBytes(StandardCharsets.US_ASCII);

    /** A token without a signature, whose claims name a group. */
    private static final String TOKEN = "e30.eyJncm91cHMiOlsiL3RyYWluaW5nIl19.e30";

    private static final List<List<String>> COMMANDS = List.of(
            List.of("list"),
            List.of("list", "-o", "yaml"),
            List.of("list", "-o", "json"),
            List.of("queues"),
            List.of("top", "--once"),
            List.of("get", "policies"),
            List.of("nodes", "list"),
            List.of("submit", "-q", "training", "--max-runtime", "1h", "--", "true"),
            List.of("submit", "--help"));

    private TrainingRun() {}

    public static void main(String... arguments) throws IOException {
        try (ServerSocket listener = new ServerSocket(0, 0, InetAddress.getLoopbackAddress())) {
            Thread.ofPlatform().daemon().start(() -> serve(listener));
            ClientEnvironment environment = new ClientEnvironment(
                    Map.of(
                            "QM_SERVER",
                            "http://127.0.0.1:" + listener.getLocalPort(),
                            "QM_TENANT",
                            "training",
                            "QM_TOKEN",
                            TOKEN),
                    "/nonexistent",
                    InputStream.nullInputStream(),
                    false,
                    false);
            for (List<String> command : COMMANDS) {
                CommandLine line = ClientProgram.commandLine(environment);
                line.setOut(new PrintWriter(Writer.nullWriter()));
                line.setErr(new PrintWriter(Writer.nullWriter()));
                int exitCode = line.execute(command.toArray(String[]::new));
                if (exitCode != 0) {
                    throw new IllegalStateException(command + " ended with " + exitCode);
                }
            }
        }
    }

    private static void serve(ServerSocket listener) {
        while (true) {
            try {
                Socket connection = listener.accept();
                Thread.ofPlatform().daemon().start(() -> answer(connection));
            } catch (IOException e) {
                return;
            }
        }
    }

    /** Answers each request of a connection. A body has no empty line, so the empty line ends the headers. */
    private static void answer(Socket connection) {
        try (connection;
                BufferedReader in = new BufferedReader(
                        new InputStreamReader(connection.getInputStream(), StandardCharsets.US_ASCII));
                OutputStream out = connection.getOutputStream()) {
            String line = in.readLine();
            while (line != null) {
                if (line.isEmpty()) {
                    out.write(ANSWER);
                    out.flush();
                }
                line = in.readLine();
            }
        } catch (IOException e) {
            // The client has closed the connection.
            return;
        }
    }
}
