package io.quartermaster.agent;

import io.quartermaster.agent.supervisor.StateFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;

/**
 * The token of a session that the service issued to this node. It is kept on disk, so that an agent that restarts while
 * Keycloak is away can continue.
 *
 * @param renewAtEpochMillis the middle of its life; only the service decides when the session ends
 */
record NodeSession(String token, long renewAtEpochMillis) {

    static Optional<NodeSession> read(Path file) throws IOException {
        Optional<StateFile> stateFile = StateFile.read(file);
        return stateFile.isEmpty()
                ? Optional.empty()
                : Optional.of(new NodeSession(
                        stateFile.get().text("token"), stateFile.get().number("renewAtEpochMillis")));
    }

    /** Writes the session to a file in a folder that only the agent can enter. */
    void write(Path file) throws IOException {
        new StateFile()
                .with("token", token)
                .with("renewAtEpochMillis", renewAtEpochMillis)
                .writeDurably(file);
    }

    @Override
    public String toString() {
        return "session of this node";
    }
}
