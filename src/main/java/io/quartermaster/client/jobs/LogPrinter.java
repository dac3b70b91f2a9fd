package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.connection.EventStream;
import io.quartermaster.client.output.TextStyle;
import java.io.PrintWriter;

/**
 * Prints the events of a log stream. As soon as more than one worker has written, each line begins with the number of
 * its worker.
 */
final class LogPrinter implements EventStream.Reader {

    private final PrintWriter out;
    private final PrintWriter err;
    private final TextStyle style;
    private final boolean forTerminal;
    private int attempt;
    private int onlyWorker = -1;
    private boolean several;
    /** The worker whose line is not complete yet; -1 if the cursor is at the begin of a line. */
    private int openWorker = -1;

    /** @param forTerminal whether characters that could steer a terminal are replaced */
    LogPrinter(PrintWriter out, PrintWriter err, TextStyle style, boolean forTerminal) {
        this.out = out;
        this.err = err;
        this.style = style;
        this.forTerminal = forTerminal;
    }

    @Override
    public boolean read(EventStream.Event event) {
        switch (event.name()) {
            case "log" -> print(event.data());
            case "gap" ->
                remark(event.data().path("lostBytes").asText()
                        + " bytes of output came too fast, and are left out here");
            case "omitted" ->
                remark("the attempt has " + event.data().path("workers").asText() + " workers with output; that of "
                        + event.data().path("followed").asText() + " is shown");
            case "end" -> {
                endLine();
                return false;
            }
            default -> {
                // A later version of the service may send more.
            }
        }
        return !out.checkError();
    }

    @Override
    public void onOutage(String reason) {
        remark("the output stopped (" + TextStyle.printable(reason) + "); trying again");
    }

    private void print(JsonNode line) {
        int worker = line.path("worker").asInt();
        int number = line.path("attempt").asInt();
        if (number != attempt) {
            if (attempt != 0 || number > 1) {
                remark("attempt " + number);
            }
            attempt = number;
            onlyWorker = -1;
            several = false;
        }
        if (onlyWorker < 0) {
            onlyWorker = worker;
        }
        several |= worker != onlyWorker;
        if (openWorker != worker) {
            endLine();
            if (several) {
                out.print("[" + worker + "] ");
            }
        }
        String text = line.path("line").asText();
        out.print(forTerminal ? TextStyle.harmless(text) : text);
        if (line.path("partial").asBoolean()) {
            openWorker = worker;
        } else {
            out.println();
            openWorker = -1;
        }
        out.flush();
    }

    private void endLine() {
        if (openWorker >= 0) {
            out.println();
            out.flush();
            openWorker = -1;
        }
    }

    private void remark(String text) {
        endLine();
        err.println(style.faint("qm: ") + text);
        err.flush();
    }
}
