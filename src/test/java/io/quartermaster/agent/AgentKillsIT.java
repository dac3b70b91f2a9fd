package io.quartermaster.agent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.quartermaster.agent.protocol.AttemptOrder;
import io.quartermaster.agent.protocol.AttemptState.Ended;
import io.quartermaster.agent.protocol.AttemptState.Outcome;
import io.quartermaster.testing.OwnProcesses;
import io.quartermaster.testing.RandomCases;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The agent is killed repeatedly while it works, at moments that a seed decides. */
@OwnProcesses
class AgentKillsIT extends RealAgent {
    private static final int KILLS = 5;
    private static final int ATTEMPTS_PER_LIFE = 4;

    private long begunOf(List<AttemptOrder> orders) {
        return orders.stream()
                .filter(order -> Files.exists(folder.resolve(order.attemptId().toString())))
                .count();
    }

    @Test
    void killedAtAnyMomentItStartsNothingTwiceAndLosesNoEnd() throws Exception {
        long seed = RandomCases.firstSeed();
        Random random = new Random(seed);
        FakeService service = service(LONG_LEASE);
        List<AttemptOrder> orders = new ArrayList<>();
        for (int life = 0; life < KILLS; life++) {
            Process agent = fork(service);
            int heard = service.requests().size();
            await().atMost(PATIENCE).until(() -> service.requests().size() > heard);
            List<AttemptOrder> ofThisLife = new ArrayList<>();
            for (int attempt = 0; attempt < ATTEMPTS_PER_LIFE; attempt++) {
                AttemptOrder order = Orders.shell(
                        "echo x >> %s/$QM_ATTEMPT_ID; sleep 0.%d; exit 5".formatted(folder, random.nextInt(1, 10)));
                ofThisLife.add(order);
                service.order(order);
            }
            orders.addAll(ofThisLife);
            int begun = random.nextInt(ATTEMPTS_PER_LIFE + 1);
            await().atMost(PATIENCE).until(() -> begunOf(ofThisLife) >= begun);
            agent.destroyForcibly().waitFor();
        }

        agent(service);

        for (AttemptOrder order : orders) {
            Ended end = awaitEnd(service, order);
            Path starts = folder.resolve(order.attemptId().toString());
            int started = Files.exists(starts) ? Files.readAllLines(starts).size() : 0;
            if (end.outcome() == Outcome.LOST) {
                // Killed between the record and the start: the attempt never began, and the agent knows it.
                assertThat(started).as("seed %d, %s", seed, end).isZero();
                assertThat(end.startedAtEpochMillis()).as("seed %d", seed).isNull();
            } else {
                assertThat(started).as("seed %d, %s", seed, end).isEqualTo(1);
                assertThat(end.exitCode()).as("seed %d", seed).isEqualTo(5);
            }
        }
    }
}
