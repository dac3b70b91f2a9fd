package io.quartermaster.cli.load;

import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import io.quartermaster.cli.demo.DemoStage;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** Drives a service with a number of clients, each of which sends its next request after the last answer. */
public final class LoadRun {

    static final int BATCH_SIZE = 1_000;
    /** The number of alternating measurements of inserts and submissions. */
    private static final int PAIR_COUNT = 5;

    private static final Duration BIND_TIMEOUT = Duration.ofSeconds(60);

    private final PrintWriter out;
    private final LoadClient client;
    private final LoadWorld.Queues queues;
    private final ApiClient starter;
    private final ApiClient waiter;
    private final Duration warmUp;
    private final Duration measured;
    private final Optional<Long> redisPid;
    private final ProcessorClock processors;

    /** The pause after a refusal, which the service asks for. */
    private static final Duration REFUSED_PAUSE = Duration.ofSeconds(1);

    /**
     * The figures of one type of request with that number of clients.
     *
     * @param refused requests that the overloaded service refused, or did not answer in time
     * @param processors processor time of one row or submission, with all work that it causes
     */
    public record Figures(
            int clients, double perSecond, LatencyRecorder answer, long refused, ProcessorClock.Time processors) {}

    /**
     * The run at one number of clients.
     *
     * @param ceilingRatio submissions per insert, the median of the pairs
     * @param redisStopped single submissions while Redis is stopped
     * @param bound from sending the submission to seeing its devices bound in the live view
     */
    public record Round(
            Figures ceiling,
            Figures single,
            double ceilingRatio,
            LatencyRecorder bound,
            long unseen,
            Figures batch,
            Optional<Figures> redisStopped) {}

    /** Alternates inserts and submissions, so that other load on the machine affects both. */
    private record PairedFigures(
            Figures ceiling, Figures single, double ceilingRatio, LatencyRecorder bound, long unseen) {}

    public LoadRun(
            PrintWriter out,
            LoadClient client,
            LoadWorld.Queues queues,
            ApiClient starter,
            ApiClient waiter,
            Duration warmUp,
            Duration measured,
            Optional<Long> redisPid,
            ProcessorClock processors) {
        this.out = out;
        this.client = client;
        this.queues = queues;
        this.starter = starter;
        this.waiter = waiter;
        this.warmUp = warmUp;
        this.measured = measured;
        this.redisPid = redisPid;
        this.processors = processors;
    }

    /**
     * Batches come last, after every round's single submissions, because the work that they leave waiting would distort
     * those.
     */
    public List<Round> run(List<Integer> clientCounts) {
        client.watch(starter.validToken());
        List<PairedFigures> pairs =
                clientCounts.stream().map(this::measurePairs).toList();
        List<Round> rounds = new ArrayList<>();
        // The queue whose work only waits belongs to another group.
        String waiterToken = waiter.validToken();
        for (PairedFigures each : pairs) {
            int clients = each.ceiling().clients();
            Measurement batches = new Measurement(clients, BATCH_SIZE, (token, n) -> submitBatch(waiterToken, n));
            sendRequests(clients, warmUp, batches.request, new LatencyRecorder(), new AtomicLong());
            batches.measure(measured);
            Figures figures = batches.printFigures("submissions in batches");
            rounds.add(new Round(
                    each.ceiling(),
                    each.single(),
                    each.ceilingRatio(),
                    each.bound(),
                    each.unseen(),
                    figures,
                    redisPid.map(pid -> measureWithRedisStopped(pid, clients))));
        }
        return rounds;
    }

    /** Measures the queue whose work only waits; resumes Redis afterwards in every case. */
    private Figures measureWithRedisStopped(long pid, int clients) {
        String waiterToken = waiter.validToken();
        Measurement submissions = new Measurement(
                clients, 1, (token, n) -> client.post("/workloads", waiterToken, submission(queues.waits(), n))
                        .isPresent());
        sendSignal("-STOP", pid);
        try {
            submissions.measure(measured);
        } finally {
            sendSignal("-CONT", pid);
        }
        return submissions.printFigures("without Redis");
    }

    private static void sendSignal(String signal, long pid) {
        try {
            int status = new ProcessBuilder("kill", signal, Long.toString(pid))
                    .start()
                    .waitFor();
            if (status != 0) {
                throw new ApiFailure("kill " + signal + " " + pid + " ended with " + status);
            }
        } catch (IOException e) {
            throw new ApiFailure("kill " + signal + ": " + e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ApiFailure("Interrupted");
        }
    }

    private PairedFigures measurePairs(int clients) {
        Map<String, Long> sent = new ConcurrentHashMap<>();
        Measurement inserts = new Measurement(clients, 1, this::insertOneRow);
        Measurement submissions = new Measurement(clients, 1, (token, n) -> submit(token, n, sent));
        sendRequests(clients, warmUp, inserts.request, new LatencyRecorder(), new AtomicLong());
        sendRequests(clients, warmUp, submissions.request, new LatencyRecorder(), new AtomicLong());
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < PAIR_COUNT; i++) {
            double ceiling = inserts.measure(measured.dividedBy(PAIR_COUNT));
            ratios.add(submissions.measure(measured.dividedBy(PAIR_COUNT)) / ceiling);
        }
        ratios.sort(null);
        Figures ceiling = inserts.printFigures("one-row inserts");
        Figures single = submissions.printFigures("submissions");
        LatencyRecorder bound = new LatencyRecorder();
        long unseen = awaitBound(sent, bound);
        cancel(sent.keySet());
        return new PairedFigures(ceiling, single, ratios.get(PAIR_COUNT / 2), bound, unseen);
    }

    private interface Request {
        /** @return whether the service accepted it */
        boolean send(String token, long number);
    }

    /** One type of request, measured in intervals. */
    private final class Measurement {

        private final int clients;
        private final int perRequest;
        private final Request request;
        private final LatencyRecorder answers = new LatencyRecorder();
        private final AtomicLong refused = new AtomicLong();
        private double seconds;
        private ProcessorClock.Time used = ProcessorClock.Time.ZERO;

        Measurement(int clients, int perRequest, Request request) {
            this.clients = clients;
            this.perRequest = perRequest;
            this.request = request;
        }

        /** @return the rate per second in this interval */
        double measure(Duration time) {
            long before = answers.count();
            ProcessorClock.Time unused = processors.now();
            long begun = System.nanoTime();
            sendRequests(clients, time, request, answers, refused);
            double took = (System.nanoTime() - begun) / 1e9;
            seconds += took;
            used = used.plus(processors.now().since(unused));
            return (answers.count() - before) * (double) perRequest / took;
        }

        Figures printFigures(String what) {
            long done = Math.max(1, (long) answers.count() * perRequest);
            Figures figures = new Figures(
                    clients,
                    answers.count() * (double) perRequest / seconds,
                    answers,
                    refused.get(),
                    new ProcessorClock.Time(used.service() / done, used.database() / done));
            out.printf(
                    Locale.ROOT,
                    "%3d clients, %-23s %9.0f/s   p50 %7.1f ms   p99 %7.1f ms   cpu %6.3f + %6.3f ms%s%n",
                    clients,
                    what + ":",
                    figures.perSecond(),
                    answers.percentileMillis(50),
                    answers.percentileMillis(99),
                    figures.processors().service() / 1e6,
                    figures.processors().database() / 1e6,
                    refused.get() == 0 ? "" : "   " + refused + " refused");
            out.flush();
            return figures;
        }
    }

    /** A client whose request was refused waits as long as the service asks for. */
    private void sendRequests(
            int clients, Duration time, Request request, LatencyRecorder answers, AtomicLong refused) {
        // A phase is far shorter than a token's lifetime, so one token suffices.
        String token = starter.validToken();
        AtomicLong numbers = new AtomicLong();
        long end = System.nanoTime() + time.toNanos();
        inParallel(clients, () -> {
            while (System.nanoTime() < end) {
                long begun = System.nanoTime();
                if (request.send(token, numbers.incrementAndGet())) {
                    answers.add(System.nanoTime() - begun);
                } else {
                    refused.incrementAndGet();
                    LockSupport.parkNanos(REFUSED_PAUSE.toNanos());
                }
            }
        });
    }

    private boolean insertOneRow(String token, long number) {
        return client.post("/load-ceiling", token, "").isPresent();
    }

    private boolean submit(String token, long number, Map<String, Long> sent) {
        long begun = System.nanoTime();
        Optional<String> answer = client.post("/workloads", token, submission(queues.starts(), number));
        answer.ifPresent(body -> sent.put(LoadClient.id(body), begun));
        return answer.isPresent();
    }

    private boolean submitBatch(String token, long number) {
        return client.post("/workloads/batches", token, batch(queues.waits(), number))
                .isPresent();
    }

    /** A batch of the largest permitted size. */
    static String batch(String queue, long number) {
        StringBuilder items = new StringBuilder("{\"items\":[");
        for (int i = 0; i < BATCH_SIZE; i++) {
            items.append(i == 0 ? "" : ",").append(submission(queue, number * BATCH_SIZE + i));
        }
        return items.append("]}").toString();
    }

    static String submission(String queue, long number) {
        return "{\"queue\":\"" + queue + "\",\"name\":\"load-" + number
                + "\",\"type\":\"training\",\"command\":[\"python\",\"train.py\",\"--epochs\",\"10\"]}";
    }

    /** @return the number that were not seen bound in time */
    private long awaitBound(Map<String, Long> sent, LatencyRecorder bound) {
        long end = System.nanoTime() + BIND_TIMEOUT.toNanos();
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

    /** Workloads that hold devices would distort the next round. */
    private void cancel(Iterable<String> workloads) {
        String token = starter.validToken();
        List<String> left = new ArrayList<>();
        workloads.forEach(left::add);
        AtomicLong next = new AtomicLong();
        inParallel(16, () -> {
            for (int i = (int) next.getAndIncrement(); i < left.size(); i = (int) next.getAndIncrement()) {
                while (client.post("/workloads/" + left.get(i) + "/cancel", token, "")
                        .isEmpty()) {
                    LockSupport.parkNanos(REFUSED_PAUSE.toNanos());
                }
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
