package io.quartermaster;

import io.quarkus.runtime.annotations.QuarkusMain;
import io.quartermaster.launch.CommandLineFactory;

/** The program: one command per run; only {@code up} starts the service. */
@QuarkusMain
public final class Main {
    Main() {}

    public static void main(String... args) {
        int exitCode = CommandLineFactory.installed().create().execute(args);
        System.exit(exitCode);
    }
}
