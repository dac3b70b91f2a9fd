package io.quartermaster.cli.load;

import io.quartermaster.cli.demo.ApiClient;
import io.quartermaster.cli.demo.ApiClient.ApiFailure;
import java.io.PrintWriter;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures the calls of many agents: the processor time of the service and of PostgreSQL, and the time from a plan's
 * stamp until the agent has the order. Nodes and their sessions are written to the run's own database, because a login
 * at Keycloak happens once a day; each call shows its node's session as a real one does.
 */
public final class AgentLoadRun {

    /** Agents that begin per second. */
    private static final int AGENT_STARTS_PER_SECOND = 100;

    private static final Duration SETTLE_TIME = Duration.ofSeconds(10);
    private static final String TOKEN_PREFIX = "qm-node-";
    private static final int TOKEN_BYTES = 32;

    private final PrintWriter out;
    private final String url;
    private final ApiClient member;
    private final String queue;
    private final LoadDatabase database;
    private final ProcessorTimes processorTimes;
    private final Load load;

    /**
     * The load of each round.
     *
     * @param gpus of each node
     * @param starts workloads of one GPU per second
     * @param work the duration of each workload
     */
    public record Load(int gpus, int starts, Duration work, Duration warmUp, Duration time) {}

    /**
     * The figures of one phase.
     *
     * @param starts workloads submitted per second; 0 without work
     * @param seconds the duration of the phase
     * @param unseen attempts whose order no agent received
     * @param lost nodes that were given up since the start of the service
     */
    public record Figures(
            int nodes,
            int starts,
            double seconds,
            double calls,
            double abandoned,
            long failed,
            ProcessorTimes.Seconds processor,
            double sentBytes,
            double answeredBytes,
            LatencyRecorder order,
            long unseen,
            long lost) {}

    public AgentLoadRun(
            PrintWriter out,
            String url,
            ApiClient member,
            String queue,
            LoadDatabase database,
            ProcessorTimes processorTimes,
            Load load) {
        this.out = out;
        this.url = url;
        this.member = member;
        this.queue = queue;
        this.database = database;
        this.processorTimes = processorTimes;
        this.load = load;
    }

    /** @param sizes numbers of nodes in ascending order: each round adds nodes to the earlier ones */
    public List<Figures> run(List<Integer> sizes) throws InterruptedException {
        List<Figures> figures = new ArrayList<>();
        List<LightAgent> agents = new ArrayList<>();
        AgentCalls calls = new AgentCalls();
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("timer").factory());
        ExecutorService threads = Executors.newFixedThreadPool(
                2, Thread.ofPlatform().daemon().name("http-", 0).factory());
        try (HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .executor(threads)
                .build()) {
            for (int size : sizes) {
                startAgents(agents, http, timer, calls, size);
                figures.add(measure(calls, size, 0));
                if (load.starts() > 0) {
                    ScheduledFuture<?> submissions = submitSteadily(timer);
                    figures.add(measure(calls, size, load.starts()));
                    submissions.cancel(false);
                    pause(load.work().plus(SETTLE_TIME));
                }
            }
            calls.failures().forEach((failure, times) -> out.printf("failed %d times: %s%n", times, failure));
            agents.forEach(LightAgent::close);
            http.shutdownNow();
        } finally {
            timer.shutdownNow();
            threads.shutdownNow();
        }
        return figures;
    }

    /** Registers nodes up to this number and begins their agents. */
    private void startAgents(
            List<LightAgent> agents, HttpClient http, ScheduledExecutorService timer, AgentCalls calls, int size)
            throws InterruptedException {
        List<String> names = new ArrayList<>();
        List<String> hashes = new ArrayList<>();
        List<LightAgent> fresh = new ArrayList<>();
        SecureRandom random = new SecureRandom();
        for (int i = agents.size(); i < size; i++) {
            byte[] secret = new byte[TOKEN_BYTES];
            random.nextBytes(secret);
            String token =
                    TOKEN_PREFIX + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
            String name = "load-" + i;
            names.add(name);
            hashes.add(hash(token));
            fresh.add(new LightAgent(http, timer, calls, url, name, token, load.gpus(), load.work()));
        }
        database.register(names, hashes, LoadWorld.CLUSTER, LoadWorld.NODES_POOL);
        agents.addAll(fresh);
        out.printf("%5d nodes: their agents begin%n", size);
        out.flush();
        for (int i = 0; i < fresh.size(); i++) {
            fresh.get(i).start();
            if (i % AGENT_STARTS_PER_SECOND == AGENT_STARTS_PER_SECOND - 1) {
                pause(Duration.ofSeconds(1));
            }
        }
    }

    private ScheduledFuture<?> submitSteadily(ScheduledExecutorService timer) {
        LoadClient client = new LoadClient(url);
        AtomicLong numbers = new AtomicLong();
        return timer.scheduleAtFixedRate(
                () -> {
                    try {
                        client.post("/workloads/batches", member.validToken(), batch(numbers));
                    } catch (ApiFailure e) {
                        out.println(e.getMessage());
                        out.flush();
                    }
                },
                0,
                1,
                TimeUnit.SECONDS);
    }

    private String batch(AtomicLong numbers) {
        StringBuilder items = new StringBuilder("{\"items\":[");
        for (int i = 0; i < load.starts(); i++) {
            items.append(i == 0 ? "" : ",").append(LoadRun.submission(queue, numbers.incrementAndGet()));
        }
        return items.append("]}").toString();
    }

    private Figures measure(AgentCalls calls, int nodes, int starts) throws InterruptedException {
        pause(load.warmUp());
        Instant since = Instant.now();
        long begun = System.nanoTime();
        AgentCalls.Counts countsBefore = calls.counts();
        ProcessorTimes.Seconds before = processorTimes.now();
        pause(load.time());
        ProcessorTimes.Seconds processor = processorTimes.now().minus(before);
        AgentCalls.Counts counts = calls.counts().minus(countsBefore);
        double seconds = (System.nanoTime() - begun) / 1e9;
        Instant until = Instant.now().minus(Duration.ofSeconds(5));
        LatencyRecorder order = new LatencyRecorder();
        long unseen = 0;
        for (Map.Entry<UUID, Instant> bound : database.boundSince(since).entrySet()) {
            Instant arrival = calls.orderArrival(bound.getKey()).orElse(null);
            if (arrival != null) {
                order.add(Duration.between(bound.getValue(), arrival).toNanos());
            } else if (bound.getValue().isBefore(until)) {
                unseen++;
            }
        }
        Figures figures = new Figures(
                nodes,
                starts,
                seconds,
                counts.answered() / seconds,
                counts.abandoned() / seconds,
                counts.failed(),
                processor,
                counts.sentBytes() / (double) Math.max(1, counts.answered()),
                counts.answeredBytes() / (double) Math.max(1, counts.answered()),
                order,
                unseen,
                database.lostNodes());
        out.printf(
                Locale.ROOT,
                "%5d nodes, %3d starts/s: %6.1f calls/s, %d failed; service %.3f s/s (compiler %.3f), PostgreSQL "
                        + "%.3f s/s; %d orders p50 %.0f ms p99 %.0f ms, %d unseen, %d nodes lost%n",
                nodes,
                starts,
                figures.calls(),
                figures.failed(),
                processor.service() / seconds,
                processor.compiler() / seconds,
                processor.postgres() / seconds,
                order.count(),
                order.percentileMillis(50),
                order.percentileMillis(99),
                unseen,
                figures.lost());
        out.flush();
        return figures;
    }

    private static String hash(String token) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(token.getBytes(StandardCharsets.US_ASCII)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    private static void pause(Duration time) throws InterruptedException {
        Thread.sleep(time);
    }
}
