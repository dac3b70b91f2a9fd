package io.quartermaster.cli;

import io.quartermaster.embedded.ProgressListener;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Prints steps on the console as they happen, with the duration of each. Steps run at the same time, so each gets a
 * line when it ends too.
 */
final class ConsoleProgress implements ProgressListener {

    private final PrintWriter out;

    ConsoleProgress(PrintWriter out) {
        this.out = out;
    }

    @Override
    public Step begin(String what) {
        long begun = System.nanoTime();
        printLine("  ..  %s".formatted(what));
        return outcome -> printLine(String.format(
                Locale.ROOT, "  ok  %-28s %-24s %5.1f s", what, outcome, (System.nanoTime() - begun) / 1e9));
    }

    @Override
    public void warn(String what) {
        printLine("  !!  " + what);
    }

    private synchronized void printLine(String text) {
        out.println(text.stripTrailing());
        out.flush();
    }
}
