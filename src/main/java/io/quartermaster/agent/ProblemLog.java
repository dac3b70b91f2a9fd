package io.quartermaster.agent;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

/** Logs the problems of attempts. The same problem of an attempt is not logged twice in a row. */
final class ProblemLog {
    private final Consumer<String> log;
    private final Map<UUID, String> logged = new HashMap<>();

    ProblemLog(Consumer<String> log) {
        this.log = log;
    }

    void add(UUID attempt, IOException problem) {
        if (!problem.toString().equals(logged.put(attempt, problem.toString()))) {
            log.accept("problem with attempt %s, the others continue: %s".formatted(attempt, problem));
        }
    }

    void forget(UUID attempt) {
        logged.remove(attempt);
    }
}
