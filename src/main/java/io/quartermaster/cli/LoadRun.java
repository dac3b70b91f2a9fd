package io.quartermaster.cli;

import io.quartermaster.cli.ApiClient.ApiFailure;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Drives a service with a number of clients, each of which sends its next request when the last was answered. */
final class LoadRun {

    private static final int BATCH = 1_000;
    private static final Duration BIND_PATIENCE = Duration.ofSeconds(60);

    private final PrintWriter out;
    private final LoadClient client;
    private final LoadWorld.Queues queues;
    private final ApiClient starter;
    private final ApiClient waiter;
    private final Duration warmUp;
    private final Duration measured;

    /** What one kind of request came to with that many clients. */
    record Figures(int clients, double perSecond, Latencies answer) {}

    /**
     * The run at one number of clients.
     *
     * @param bound from sending the submission to seeing its devices bound in the live view
     */
    record Round(Figures ceiling, Figures single, Latencies bound, long unseen, Figures batch) {}

    LoadRun(
            PrintWriter out,
            LoadClient client,
            LoadWorld.Queues queues,
            ApiClient starter,
            ApiClient waiter,
            Duration warmUp,
            Duration measured) {
        this.out = out;
        this.client = client;
        this.queues = queues;
        this.starter = starter;
        this.waiter = waiter;
        this.warmUp = warmUp;
        this.measured = measured;
    }

    /** Batches come last, after every round's single submissions: what they leave waiting must not weigh on those. */
    List<Round> run(List<Integer> clientCounts) {
        client.watch(starter.token());
        List<Figures> ceilings = new ArrayList<>();
        List<Figures> singles = new ArrayList<>();
        List<Latencies> bounds = new ArrayList<>();
        List<Long> unseen = new ArrayList<>();
        for (int clients : clientCounts) {
            ceilings.add(phase("one-row inserts", clients, 1, this::insertOneRow));
            Map<String, Long> sent = new ConcurrentHashMap<>();
            singles.add(phase("submissions", clients, 1, (token, n) -> submit(token, n, sent)));
            Latencies bound = new Latencies();
            unseen.add(await(sent, bound));
            bounds.add(bound);
            cancel(sent.keySet());
        }
        List<Round> rounds = new ArrayList<>();
        // The queue whose work only waits is another group's.
        String waiterToken = waiter.token();
        for (int i = 0; i < clientCounts.size(); i++) {
            Figures batch = phase(
                    "submissions in batches", clientCounts.get(i), BATCH, (token, n) -> submitBatch(waiterToken, n));
            rounds.add(new Round(ceilings.get(i), singles.get(i), bounds.get(i), unseen.get(i), batch));
        }
        return rounds;
    }

    private interface Request {
        void send(String token, long number);
    }

    private Figures phase(String what, int clients, int perRequest, Request request) {
        drive(clients, warmUp, request, new Latencies());
        Latencies answers = new Latencies();
        long begun = System.nanoTime();
        drive(clients, measured, request, answers);
        double seconds = (System.nanoTime() - begun) / 1e9;
        Figures figures = new Figures(clients, answers.count() * (double) perRequest / seconds, answers);
        out.printf(
                Locale.ROOT,
                "%3d clients, %-23s %9.0f/s   p50 %7.1f ms   p99 %7.1f ms%n",
                clients,
                what + ":",
                figures.perSecond(),
                answers.percentileMillis(50),
                answers.percentileMillis(99));
        out.flush();
        return figures;
    }

    private void drive(int clients, Duration time, Request request, Latencies answers) {
        // A phase is far shorter than a token's life, so one token serves it.
        String token = starter.token();
        AtomicLong numbers = new AtomicLong();
        long end = System.nanoTime() + time.toNanos();
        inParallel(clients, () -> {
            while (System.nanoTime() < end) {
                long begun = System.nanoTime();
                request.send(token, numbers.incrementAndGet());
                answers.add(System.nanoTime() - begun);
            }
        });
    }

    private void insertOneRow(String token, long number) {
        client.post("/load-ceiling", token, "");
    }

    private void submit(String token, long number, Map<String, Long> sent) {
        long begun = System.nanoTime();
        sent.put(LoadClient.id(client.post("/workloads", token, submission(queues.starts(), number))), begun);
    }

    private void submitBatch(String token, long number) {
        StringBuilder items = new StringBuilder("{\"items\":[");
        for (int i = 0; i < BATCH; i++) {
            items.append(i == 0 ? "" : ",").append(submission(queues.waits(), number * BATCH + i));
        }
        client.post("/workloads/batches", token, items.append("]}").toString());
    }

    private static String submission(String queue, long number) {
        return "{\"queue\":\"" + queue + "\",\"name\":\"load-" + number
                + "\",\"type\":\"training\",\"command\":[\"python\",\"train.py\",\"--epochs\",\"10\"]}";
    }

    /** @return how many were not seen bound in time */
    private long await(Map<String, Long> sent, Latencies bound) {
        long end = System.nanoTime() + BIND_PATIENCE.toNanos();
        while (System.nanoTime() < end && sent.keySet().stream().anyMatch(id -> client.boundAtNanos(id) == null)) {
            DemoStage.pause();
        }
        long unseen = 0;
        for (Map.Entry<String, Long> entry : sent.entrySet()) {
            Long at = client.boundAtNanos(entry.getKey());
            if (at == null) {
                unseen++;
            } else {
                bound.add(at - entry.getValue());
            }
        }
        out.printf(
                Locale.ROOT,
                "             from submit to bound:   %9d     p50 %7.1f ms   p99 %7.1f ms%n",
                bound.count(),
                bound.percentileMillis(50),
                bound.percentileMillis(99));
        out.flush();
        return unseen;
    }

    /** What holds devices would weigh on the next round. */
    private void cancel(Iterable<String> workloads) {
        String token = starter.token();
        List<String> left = new ArrayList<>();
        workloads.forEach(left::add);
        AtomicLong next = new AtomicLong();
        inParallel(16, () -> {
            for (int i = (int) next.getAndIncrement(); i < left.size(); i = (int) next.getAndIncrement()) {
                client.post("/workloads/" + left.get(i) + "/cancel", token, "");
            }
        });
    }

    private static void inParallel(int threads, Runnable work) {
        try (ExecutorService pool = Executors.newFixedThreadPool(threads)) {
            List<Future<?>> running = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                running.add(pool.submit(work));
            }
            for (Future<?> each : running) {
                each.get();
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof ApiFailure failure ? failure : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiFailure("Interrupted");
        }
    }
}
