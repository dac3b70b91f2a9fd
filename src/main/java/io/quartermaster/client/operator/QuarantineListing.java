package io.quartermaster.client.operator;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.output.ExitStatus;
import java.util.List;
import java.util.Map;

/** A command that lists the quarantine. */
abstract class QuarantineListing extends OperatorCall {

    QuarantineListing(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected final ExitStatus run() {
        printList(
                list(Map.of(), "quarantine-entries"),
                "id",
                List.of("ENTRY", "KIND", "TENANT", "SUBJECT", "GPUS", "SINCE", "RETRY", "TIMES", "WHY"),
                entry -> List.of(
                        text(entry, "id"),
                        text(entry, "kind"),
                        text(entry, "tenant"),
                        text(entry, "subject"),
                        text(entry, "gpus"),
                        moment(entry, "since"),
                        moment(entry, "retryAt"),
                        text(entry, "times"),
                        text(entry, "why")));
        return ExitStatus.OK;
    }
}
