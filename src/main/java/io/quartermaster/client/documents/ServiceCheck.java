package io.quartermaster.client.documents;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.output.CommandFailure;
import java.util.ArrayList;
import java.util.List;

/** The service's answer to a dry run of a change. */
sealed interface ServiceCheck {

    /** Nothing changes, so nothing was asked. */
    record Unneeded() implements ServiceCheck {}

    /** The change rests on others of the plan, and is checked when they are made. */
    record Deferred() implements ServiceCheck {}

    /**
     * The service would make the change.
     *
     * @param effects as the API states them; a missing node if the change has none
     * @param drains the moments from which the change has the service stop work above a limit
     * @param cancelsWaiting whether the change is possible only if waiting work is cancelled
     */
    record Accepted(JsonNode effects, List<String> warnings, List<String> drains, boolean cancelsWaiting)
            implements ServiceCheck {

        public Accepted {
            warnings = List.copyOf(warnings);
            drains = List.copyOf(drains);
        }

        /** Whether the service finds no field with another value. */
        boolean isSame() {
            return effects.path("changed").isArray() && effects.path("changed").isEmpty();
        }

        /** How the change stops work, or lets other work stop it; empty if it does not. */
        List<String> stops() {
            List<String> stops = new ArrayList<>();
            long overQuota = effects.path("becomingOverQuota").asLong();
            if (overQuota > 0) {
                stops.add(count(overQuota, "running job becomes", "running jobs become")
                        + " over-quota, so other work may stop " + (overQuota == 1 ? "it" : "them"));
            }
            drains.forEach(moment -> stops.add("from " + moment + " on the service stops work above the limit"));
            long waiting = effects.path("waitingTouched").asLong();
            if (waiting > 0) {
                stops.add(count(waiting, "waiting job is", "waiting jobs are") + " cancelled");
            }
            return stops;
        }

        private static String count(long number, String one, String many) {
            return number + " " + (number == 1 ? one : many);
        }
    }

    /**
     * The service would refuse the change.
     *
     * @param code the code of the problem
     */
    record Refused(String code, CommandFailure failure) implements ServiceCheck {}
}
