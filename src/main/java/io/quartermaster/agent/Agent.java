package io.quartermaster.agent;

import io.quartermaster.agent.PendingSync.Result;
import io.quartermaster.agent.Reconciler.Action;
import io.quartermaster.agent.ServiceClient.Answer;
import io.quartermaster.agent.protocol.AttemptState;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.Inventory;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.ProgramVersion;
import io.quartermaster.agent.protocol.Protocol;
import io.quartermaster.agent.protocol.StopReason;
import io.quartermaster.agent.protocol.SyncReply;
import io.quartermaster.agent.protocol.SyncRequest;
import io.quartermaster.agent.supervisor.AttemptFolder.Lease;
import io.quartermaster.agent.supervisor.AttemptFolder.StopRequest;
import io.quartermaster.agent.supervisor.BootClock;
import io.quartermaster.agent.supervisor.GpuSuspender;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * The agent of one node: a loop that reports the actual state, receives the desired state and makes the node match it.
 *
 * <p>At most one call is open at a time. The service may hold it open until its desired state changes. When the node's
 * state changes meanwhile, the agent abandons the call and makes a new one that asks for an immediate answer. Such a
 * call is never abandoned, so that a busy node still renews its lease. When calls fail, work continues, and the agent
 * retries with back-off and jitter. The supervisors then end the work at the end of the lease; this loop does not.
 *
 * <p>Closing the agent leaves its work running, as killing it does, unless {@link AgentConfig#stopsWorkOnClose}.
 * Threads: one for the loop, one per call, one that checks devices.
 */
public final class Agent implements AutoCloseable {
    private static final long CLOSING_GRACE_MILLIS = 5_000;
    private static final long LAST_CALL_TIMEOUT_MILLIS = 3_000;
    private static final long ANSWER_TIMEOUT_MILLIS = 15_000;
    private static final long SWEEP_INTERVAL_MILLIS = 3_600_000;
    private static final int BAD_REQUEST = 400;

    /** The codes of answers that ask for another call in a moment. */
    private static final Set<String> RETRYABLE_CODES = Set.of("lease-lapsed", Protocol.INVENTORY_UNKNOWN);

    /**
     * A call is held for a sixth of the lease, and must be answered within a fifth: so two calls that hang still leave
     * time for a third.
     */
    private static final int HOLD_LEASE_DIVISOR = 6;

    private static final int ANSWER_LEASE_DIVISOR = 5;

    private static final long MIN_ANSWER_TIMEOUT_MILLIS = 1_000;

    private final AgentConfig config;
    private final StateFolder state;
    private final Attempts attempts;
    private final MachineInventory machineInventory;
    private final ServiceClient service;
    private final ReportCache reportCache = new ReportCache();
    private final BootClock clock = BootClock.system();
    private final UUID instanceId = UUID.randomUUID();
    private final UUID stateId;
    private final RetryPause pause;
    private final Thread loop;
    private volatile boolean closing;

    private @Nullable PendingSync pendingSync;
    private long sequence;
    private long appliedRevision;
    private long leaseMillis;
    private long leaseUntilMillis;
    private SortedMap<UUID, AttemptState> receivedStates = new TreeMap<>();
    private @Nullable Inventory receivedInventory;
    private @Nullable String receivedInventoryDigest;
    private long nextCallMillis;
    private long nextSweepMillis;
    private String lastProblem = "";

    private Agent(AgentConfig config, StateFolder state, Launcher launcher) throws IOException {
        this.config = config;
        this.state = state;
        AgentConfig.Pace pace = config.pace();
        Optional<GpuSuspender> gpuSuspender = MachineInventory.pausing(config);
        this.machineInventory = new MachineInventory(config, gpuSuspender);
        WorkEnvironment works = new WorkEnvironment(
                state,
                launcher,
                config.isolation() == Isolation.NONE && !config.trustsTenants(),
                config.devices() instanceof AgentConfig.Devices.Simulated,
                pace.outputLimitBytes(),
                gpuSuspender,
                pace.tickMillis());
        this.attempts = new Attempts(state, works, launcher, machineInventory::deviceIds, clock, config.log());
        this.service = new ServiceClient(config, state.identity().resolve("session"));
        this.stateId = state.id();
        this.pause = new RetryPause(pace.minBackoffMillis(), pace.maxBackoffMillis(), RandomGenerator.getDefault());
        this.loop = Thread.ofPlatform().name("agent " + config.node()).unstarted(this::run);
    }

    /**
     * Takes over the running attempts of the state folder and begins to call the service, which need not be available
     * yet.
     *
     * @throws IOException with a message for the operator when this machine or folder cannot be used
     */
    public static Agent start(AgentConfig config) throws IOException {
        Launcher launcher =
                Launcher.forMachine(config.isolation(), config.work().confinement());
        StateFolder state = StateFolder.open(config.stateFolder());
        try {
            Agent agent = new Agent(config, state, launcher);
            agent.loop.start();
            return agent;
        } catch (IOException | RuntimeException e) {
            state.close();
            throw e;
        }
    }

    /** Waits until the agent is closed. */
    void join() throws InterruptedException {
        loop.join();
    }

    @Override
    public void close() throws IOException {
        closing = true;
        try {
            loop.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        machineInventory.close();
        service.close();
        attempts.close();
        state.close();
    }

    private void run() {
        try {
            while (!closing) {
                try {
                    runOnce();
                } catch (IOException | RuntimeException e) {
                    logOnce("problem on this node: " + e);
                    TimeUnit.MILLISECONDS.sleep(config.pace().minBackoffMillis());
                }
            }
            stopWork();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            logOnce("problem while the agent closes: " + e);
        }
    }

    private void runOnce() throws IOException, InterruptedException {
        if (clock.millis() >= nextSweepMillis) {
            nextSweepMillis = clock.millis() + SWEEP_INTERVAL_MILLIS;
            attempts.dropOldCheckpoints(config.work().checkpointRetention());
        }
        SortedMap<UUID, AttemptState> states = attempts.observe();
        PendingSync out = pendingSync;
        if (out == null) {
            if (clock.millis() >= nextCallMillis) {
                pendingSync = send(states, waitMillis(states));
            } else {
                TimeUnit.MILLISECONDS.sleep(config.pace().tickMillis());
            }
        } else if (out.request().waitMillis() > 0 && hasChanges(out, states)) {
            out.cancel();
            pendingSync = send(states, 0);
        } else {
            Result result = out.resultWithin(config.pace().tickMillis()).orElse(null);
            if (result != null) {
                pendingSync = null;
                handleResult(out, result);
            }
        }
    }

    private boolean hasChanges(PendingSync out, SortedMap<UUID, AttemptState> states) throws IOException {
        return !states.equals(out.states())
                || !machineInventory.inventory().equals(out.inventory())
                || (out.isOlderThan(config.pace().logMillis())
                        && reportCache.outputHasGrown(states.keySet(), attempts));
    }

    /** How long the service may hold the next call. Zero until it has the current state, and after a failed call. */
    private long waitMillis(SortedMap<UUID, AttemptState> states) {
        boolean upToDate = !pause.isFailing()
                && states.equals(receivedStates)
                && machineInventory.inventory().equals(receivedInventory);
        long longest = Math.min(config.pace().maxWaitMillis(), Protocol.MAX_WAIT_MILLIS);
        return upToDate ? Math.min(longest, leaseMillis / HOLD_LEASE_DIVISOR) : 0;
    }

    /** The length of the lease; 0 if it is not valid. */
    private long leaseMillisNow() {
        return clock.millis() < leaseUntilMillis ? leaseMillis : 0;
    }

    /** The time limit of an answer. A call that hangs must not use up the lease, since the next one may succeed. */
    private long answerMillis() {
        long lease = leaseMillisNow();
        return lease == 0
                ? ANSWER_TIMEOUT_MILLIS
                : Math.min(ANSWER_TIMEOUT_MILLIS, Math.max(MIN_ANSWER_TIMEOUT_MILLIS, lease / ANSWER_LEASE_DIVISOR));
    }

    private PendingSync send(SortedMap<UUID, AttemptState> states, long waitMillis) throws IOException {
        long madeAtMillis = clock.millis();
        Inventory inventory = machineInventory.inventory();
        String digest = inventory.equals(receivedInventory) ? receivedInventoryDigest : null;
        SyncRequest request = new SyncRequest(
                Protocol.FORMAT_VERSION,
                ProgramVersion.current(),
                clock.bootId(),
                instanceId,
                stateId,
                ++sequence,
                appliedRevision,
                waitMillis,
                digest == null ? inventory : null,
                digest,
                reportCache.buildReports(states, attempts));
        return new PendingSync(service, clock, request, inventory, madeAtMillis, answerMillis(), states);
    }

    private void handleResult(PendingSync answered, Result result) {
        String code = "";
        String failure =
                switch (result) {
                    case Result.Answered(Answer answer) -> apply(answered, answer);
                    case Result.Failed(String message, int status, String problem) -> {
                        code = problem;
                        if (status == BAD_REQUEST || problem.equals(Protocol.INVENTORY_UNKNOWN)) {
                            // The service does not know the digest, or an older one none at all.
                            receivedInventoryDigest = null;
                        }
                        yield message;
                    }
                };
        if (failure.isEmpty()) {
            if (pause.isFailing()) {
                config.log().accept("in contact with the service again");
            }
            pause.recordSuccess();
            lastProblem = "";
            nextCallMillis = 0;
        } else {
            logOnce(failure);
            nextCallMillis = clock.millis() + pause.nextPauseMillis(leaseMillisNow(), RETRYABLE_CODES.contains(code));
        }
    }

    private String apply(PendingSync answered, Answer answer) {
        SyncReply reply = answer.reply();
        try {
            SortedMap<UUID, AttemptState> states = attempts.observe();
            boolean idle = states.values().stream().allMatch(Ended.class::isInstance);
            if (reply.revision() < appliedRevision && !idle) {
                return "the service answers with revision %d, older than %d"
                        .formatted(reply.revision(), appliedRevision);
            }
            long until = answer.sentAtMillis() + reply.leaseMillis();
            long now = clock.millis();
            if (now >= until) {
                return "the answer arrived after the lease that it grants had expired";
            }
            reportCache.recordReceived(answered.request().attempts());
            reportCache.retainOnly(states);
            receivedStates = answered.states();
            receivedInventory = answered.inventory();
            receivedInventoryDigest = reply.inventoryDigest();
            leaseMillis = reply.leaseMillis();
            leaseUntilMillis = until;
            Lease lease = new Lease(clock.bootId(), until, reply.leaseMillis());
            attempts.renew(lease);
            List<Action> actions = Reconciler.decide(
                    reply.attempts(),
                    reply.paused(),
                    reply.forget(),
                    attempts.locals(),
                    config.pauseSettings().maxPaused(),
                    now);
            String failure = carryOut(actions, lease);
            if (failure.isEmpty()) {
                appliedRevision = reply.revision();
            }
            return failure;
        } catch (IOException e) {
            return "cannot carry out revision %d: %s".formatted(reply.revision(), e);
        }
    }

    /** Carries out the actions. A failure for one attempt must not delay the others. */
    private String carryOut(List<Action> actions, Lease lease) {
        String failure = "";
        for (Action action : actions) {
            try {
                attempts.carryOut(action, lease);
            } catch (IOException e) {
                failure = "cannot carry out %s: %s".formatted(action.getClass().getSimpleName(), e);
            }
        }
        return failure;
    }

    /** Logs a problem once, and not in every round of the loop. */
    private void logOnce(String complaint) {
        if (!complaint.equals(lastProblem)) {
            config.log().accept(complaint);
            lastProblem = complaint;
        }
    }

    private void stopWork() throws IOException, InterruptedException {
        PendingSync out = pendingSync;
        if (out != null) {
            out.cancel();
        }
        if (!config.stopsWorkOnClose()) {
            return;
        }
        long deadline = clock.millis() + CLOSING_GRACE_MILLIS;
        StopRequest stop = new StopRequest(StopReason.GIVEN_UP, CLOSING_GRACE_MILLIS, deadline);
        for (var entry : attempts.observe().entrySet()) {
            if (!(entry.getValue() instanceof Ended)) {
                attempts.stop(entry.getKey(), stop);
            }
        }
        SortedMap<UUID, AttemptState> states = attempts.observe();
        while (!states.values().stream().allMatch(Ended.class::isInstance)
                && clock.millis() < deadline + CLOSING_GRACE_MILLIS) {
            TimeUnit.MILLISECONDS.sleep(config.pace().tickMillis());
            states = attempts.observe();
        }
        PendingSync last = send(states, 0);
        if (last.resultWithin(LAST_CALL_TIMEOUT_MILLIS).isEmpty()) {
            last.cancel();
        }
    }
}
