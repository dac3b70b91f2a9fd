package io.quartermaster.agent;

import io.quartermaster.agent.ServiceClient.Answer;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.agent.supervisor.BootClock;
import java.io.IOException;
import java.util.Optional;
import java.util.SortedMap;
import java.util.UUID;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;

/** One open call, on its own thread, so that the loop can continue to check the running work. */
final class PendingSync {
    /** The result of the call. */
    sealed interface Result {
        record Answered(Answer answer) implements Result {}

        /** @param code see {@link ServiceFailure}; empty if the service did not answer */
        record Failed(String message, String code) implements Result {}
    }

    private final SyncRequest request;
    private final SortedMap<UUID, AttemptState> states;
    private final long sentAtNanos = System.nanoTime();
    private final LinkedTransferQueue<Result> result = new LinkedTransferQueue<>();
    private final Thread thread;

    /**
     * @param madeAtMillis the time at which the states in the request were read
     * @param answerMillis see {@link ServiceClient#sync}
     */
    PendingSync(
            ServiceClient service,
            BootClock clock,
            SyncRequest request,
            long madeAtMillis,
            long answerMillis,
            SortedMap<UUID, AttemptState> states) {
        this.request = request;
        this.states = states;
        this.thread = Thread.ofVirtual()
                .name("call")
                .start(() -> result.add(call(service, clock, request, madeAtMillis, answerMillis)));
    }

    private static Result call(
            ServiceClient service, BootClock clock, SyncRequest request, long madeAtMillis, long answerMillis) {
        try {
            return new Result.Answered(service.sync(request, madeAtMillis, answerMillis, clock));
        } catch (IOException | RuntimeException e) {
            String message = e.getMessage();
            return new Result.Failed(
                    message == null ? e.getClass().getSimpleName() : message,
                    e instanceof ServiceFailure failure ? failure.code() : "");
        } catch (InterruptedException e) {
            return new Result.Failed("given up", "");
        }
    }

    SyncRequest request() {
        return request;
    }

    /** The states in the request. */
    SortedMap<UUID, AttemptState> states() {
        return states;
    }

    boolean isOlderThan(long millis) {
        return System.nanoTime() - sentAtNanos >= TimeUnit.MILLISECONDS.toNanos(millis);
    }

    Optional<Result> resultWithin(long millis) throws InterruptedException {
        return Optional.ofNullable(result.poll(millis, TimeUnit.MILLISECONDS));
    }

    /** Abandons the call and returns when it has ended. An answer in transit is lost, which costs only time. */
    void giveUp() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }
}
