package io.quartermaster.client.settings;

import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The folder of the command line's files: {@code $XDG_CONFIG_HOME/qm}, or {@code ~/.config/qm}. */
public final class ClientFolder {

    private ClientFolder() {}

    /** A relative {@code XDG_CONFIG_HOME} is ignored, as its specification states. */
    public static Path of(Map<String, String> environment, String home) {
        @Nullable String given = environment.get("XDG_CONFIG_HOME");
        boolean usable = given != null && !given.isEmpty() && Path.of(given).isAbsolute();
        Path config = usable ? Path.of(String.valueOf(given)) : Path.of(home, ".config");
        return config.resolve("qm");
    }
}
