package io.quartermaster.client.jobs;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.connection.ServiceConnection;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The quotas that the policies of a tenant grant, and the amounts that their work holds at present. */
final class GroupShare {

    private final Map<String, JsonNode> policies = new HashMap<>();
    private final JsonNode live;

    private GroupShare(List<JsonNode> policies, JsonNode live) {
        policies.forEach(policy -> this.policies.put(policy.path("name").asText(), policy));
        this.live = live;
    }

    static GroupShare of(ServiceConnection service) {
        return new GroupShare(
                service.items(service.path("policies"), Map.of(), Integer.MAX_VALUE),
                service.get(service.path("usage", "live")));
    }

    /**
     * A policy's numbers in one pool.
     *
     * @param limit absent if the policy has none there
     */
    record Line(
            String policy,
            String group,
            String pool,
            BigDecimal used,
            BigDecimal reserved,
            Optional<BigDecimal> limit,
            BigDecimal queued) {

        /** The amounts that the group can still start within its reservation, and up to its limit. */
        String room() {
            BigDecimal within = reserved.subtract(used).max(BigDecimal.ZERO);
            return text(within) + " reserved"
                    + limit.map(most -> ", " + text(most.subtract(used).max(BigDecimal.ZERO)) + " in all")
                            .orElse("");
        }

        String use() {
            return text(used) + " of " + text(reserved)
                    + limit.map(most -> ", at most " + text(most)).orElse("");
        }
    }

    /** The lines of a policy, one for each pool. */
    List<Line> linesOf(String policy) {
        JsonNode known = policies.get(policy);
        if (known == null) {
            return List.of();
        }
        return known.path("quotas")
                .valueStream()
                .map(quota -> line(known, quota))
                .toList();
    }

    List<String> policyNames() {
        return policies.keySet().stream().sorted().toList();
    }

    String groupOf(String policy) {
        JsonNode known = policies.get(policy);
        return known == null ? "" : known.path("group").asText();
    }

    long waitingIn(String queue) {
        return live.path("queues")
                .valueStream()
                .filter(one -> one.path("queue").asText().equals(queue))
                .mapToLong(one -> one.path("waiting").asLong())
                .sum();
    }

    private Line line(JsonNode policy, JsonNode quota) {
        String pool = quota.path("pool").asText();
        BigDecimal used = BigDecimal.ZERO;
        BigDecimal queued = BigDecimal.ZERO;
        for (JsonNode one : live.path("policies")) {
            boolean same =
                    one.path("policy").asText().equals(policy.path("name").asText())
                            && (pool.equals("*") || one.path("pool").asText().equals(pool));
            if (same) {
                used = used.add(amount(one.path("gpus").path("used")));
                queued = queued.add(amount(one.path("gpus").path("queued")));
            }
        }
        return new Line(
                policy.path("name").asText(),
                policy.path("group").asText(),
                pool,
                used,
                amount(quota.path("reserved")),
                quota.hasNonNull("limit") ? Optional.of(amount(quota.path("limit"))) : Optional.empty(),
                queued);
    }

    private static BigDecimal amount(JsonNode gpus) {
        return new BigDecimal(gpus.asText("0"));
    }

    static String text(BigDecimal gpus) {
        return gpus.signum() == 0 ? "0" : gpus.stripTrailingZeros().toPlainString();
    }
}
