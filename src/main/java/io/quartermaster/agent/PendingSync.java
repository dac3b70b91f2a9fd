package io.quartermaster.agent;

import io.quartermaster.agent.ServiceClient.Answer;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.Inventory;
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

        /**
         * A call without an answer that can be used.
         *
         * @param status of the answer; 0 if the service did not answer
         * @param code see {@link ServiceFailure}; empty if the service did not answer
         */
        record Failed(String message, int status, String code) implements Result {}
    }

    private final SyncRequest request;
    private final Inventory inventory;
    private final SortedMap<UUID, AttemptState> states;
    private final long sentAtNanos = System.nanoTime();
    private final LinkedTransferQueue<Result> result = new LinkedTransferQueue<>();
    private final Thread thread;

    /**
     * @param inventory that of the request, which may carry only its digest
     * @param madeAtMillis the time at which the states in the request were read
     * @param answerMillis see {@link ServiceClient#sync}
     */
    PendingSync(
            ServiceClient service,
            BootClock clock,
            SyncRequest request,
            Inventory inventory,
            long madeAtMillis,
            long answerMillis,
            SortedMap<UUID, AttemptState> states) {
        this.request = request;
        this.inventory = inventory;
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
            String text = message == null ? e.getClass().getSimpleName() : message;
            return e instanceof ServiceFailure failure
                    ? new Result.Failed(text, failure.status(), failure.code())
                    : new Result.Failed(text, 0, "");
        } catch (InterruptedException e) {
            return new Result.Failed("given up", 0, "");
        }
    }

    SyncRequest request() {
        return request;
    }

    /** The inventory that the request carries or names. */
    Inventory inventory() {
        return inventory;
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
    void cancel() throws InterruptedException {
        thread.interrupt();
        thread.join();
    }
}
