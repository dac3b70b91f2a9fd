package io.quartermaster;

import io.quarkus.runtime.annotations.QuarkusMain;
import io.quartermaster.cli.QuartermasterCommand;

/** The program: one command per run; only {@code up} starts the service. */
@QuarkusMain
public final class Main {
    Main() {}

    public static void main(String... args) {
        int exitCode = QuartermasterCommand.execute(args);
        System.exit(exitCode);
    }
}
