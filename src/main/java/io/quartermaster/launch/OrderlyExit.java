package io.quartermaster.launch;

import java.util.List;
import sun.misc.Signal;

/** The end of this process by a signal. Without this class, the JVM stops orderly too, but ends with 128 and more. */
public final class OrderlyExit {

    private static final List<String> SIGNALS = List.of("INT", "TERM", "HUP");

    private OrderlyExit() {}

    /** From here on, a signal ends the process with {@link ExitCodes#OK}, once all of its shutdown hooks have run. */
    public static void onSignals() {
        for (String name : SIGNALS) {
            try {
                // A signal that the parent process ignores, such as HUP under nohup, stays ignored.
                Signal.handle(new Signal(name), signal -> System.exit(ExitCodes.OK));
            } catch (IllegalArgumentException e) {
                // The option -Xrs leaves the signals to the operating system.
                return;
            }
        }
    }
}
