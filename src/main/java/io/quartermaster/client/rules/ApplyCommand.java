package io.quartermaster.client.rules;

import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.documents.ApplyingCommand;
import io.quartermaster.client.documents.FieldTypes;
import io.quartermaster.client.documents.ObjectKind;
import io.quartermaster.client.output.ExitStatus;
import java.util.List;
import picocli.CommandLine.Command;

/** {@code qm apply}: makes the rules of a tenant what documents state. */
@Command(
        name = "apply",
        description = {
            "Makes the groups, profiles, policies, queues and access rules of the tenant what documents state.",
            "It prints the changes with their effects on running and waiting jobs, then makes them in the order in "
                    + "which they rest on each other. A second run changes nothing. Fields that a document does not "
                    + "name, and objects without a document, stay as they are.",
            "While the service would refuse one of the changes, or jobs would stop, nothing is changed. qm get "
                    + "--documents prints the documents of what exists."
        },
        footer = {
            "%nExamples:%n",
            "  qm apply -f rules/ --dry-run",
            "  qm apply -f rules/",
            "%nA document:%n",
            "  kind: policy",
            "  name: vision",
            "  spec:",
            "    group: /vision",
            "    quotas: [{pool: h100, reserved: 8, limit: 12}]",
            "    profiles: [two-gpus]"
        })
final class ApplyCommand extends ApplyingCommand {

    ApplyCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected List<ObjectKind> kinds() {
        return RuleKinds.all();
    }

    @Override
    protected FieldTypes types() {
        return RuleFields.TYPES;
    }

    @Override
    protected ExitStatus run() {
        return apply();
    }
}
