package io.quartermaster.agent;

import io.quartermaster.agent.AgentConfig.Credentials;
import io.quartermaster.agent.AgentConfig.Devices;
import io.quartermaster.agent.AgentConfig.Pace;
import io.quartermaster.agent.AgentConfig.PauseSettings;
import io.quartermaster.agent.AgentConfig.WorkSettings;
import io.quartermaster.agent.protocol.Inventory.Isolation;
import io.quartermaster.agent.protocol.ProgramVersion;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code qm agent}: reads the options and runs the agent until a signal ends the process. */
@Command(
        name = "agent",
        mixinStandardHelpOptions = true,
        versionProvider = ProgramVersion.class,
        sortOptions = false,
        description = {
            "Runs the work that the service assigns to this node.",
            "Work continues while the agent restarts. It ends when the agent has had no contact with the service for the length of the"
                    + " node's lease."
        },
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "1:this machine or the state folder cannot be used; the message states the reason",
            "2:an option is missing or wrong",
            "130, 143:ended by Ctrl-C, by SIGTERM"
        })
public final class AgentCommand implements Callable<Integer> {
    private static final String SECRET_VARIABLE = "QM_AGENT_SECRET";
    private static final int CANNOT_START = 1;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--server",
            required = true,
            paramLabel = "URL",
            description = "Address of the service, such as https://qm.example.org")
    private URI server;

    @Option(names = "--node", required = true, paramLabel = "NAME", description = "Name of this node, as registered")
    private String node;

    @Option(
            names = "--token-url",
            required = true,
            paramLabel = "URL",
            description = "Token endpoint of the operator's realm")
    private URI tokenUrl;

    @Option(names = "--client-id", required = true, paramLabel = "ID", description = "This node's client")
    private String clientId;

    @Option(
            names = "--client-secret-file",
            paramLabel = "FILE",
            description = "File with the client's secret. Default: the variable " + SECRET_VARIABLE)
    private @Nullable Path clientSecretFile;

    @Option(
            names = "--state-dir",
            required = true,
            paramLabel = "DIR",
            description =
                    "Folder for this agent alone, on a local disk that keeps its files across restarts of the machine")
    private Path stateDir;

    @Option(
            names = "--isolation",
            defaultValue = "os-user",
            paramLabel = "os-user|none",
            description = {
                "How tenants are isolated: each as a user of the operating system (needs root), or not at all;"
                        + " then the node can only be in a pool of one tenant. Default: ${DEFAULT-VALUE}"
            })
    private String isolation;

    @Option(
            names = "--trust-tenants",
            description =
                    "With --isolation none: let several tenants share this node without isolation. For demonstrations")
    private boolean trustTenants;

    @Option(
            names = "--work-user",
            paramLabel = "ID",
            description = {
                "With --isolation none, as root: run all work as the user and the group with this number, which "
                        + "need not be"
                        + " known to the system. For demonstrations"
            })
    private @Nullable Integer workUser;

    @Option(
            names = "--hide",
            paramLabel = "DIR",
            description = {
                "With --isolation none: work runs in its own namespace, in which this folder is empty except for "
                        + "the work's"
                        + " own folders. Repeat the option for several folders. For demonstrations"
            })
    private List<Path> hidden = List.of();

    @Option(
            names = "--demonstration-only",
            description = "With --isolation none: run the program of qm demo and refuse all other commands")
    private boolean demonstrationOnly;

    @Option(
            names = "--checkpoint-retention",
            defaultValue = "P90D",
            paramLabel = "TIME",
            description = {
                "Delete checkpoints that no attempt on this node has used for this long, such as P30D or PT12H. "
                        + "Default:"
                        + " ${DEFAULT-VALUE}"
            })
    private Duration checkpointRetention;

    @Option(
            names = "--stop-work-on-exit",
            description = "End all work when a signal ends the agent, instead of leaving it to the next agent")
    private boolean stopWorkOnExit;

    @Option(
            names = "--simulated-gpus",
            paramLabel = "N",
            description = "Offer N simulated GPUs instead of those of the machine")
    private @Nullable Integer simulatedGpus;

    @Option(
            names = "--simulated-model",
            defaultValue = "H100",
            paramLabel = "NAME",
            description = "Model of the simulated GPUs. Default: ${DEFAULT-VALUE}")
    private String simulatedModel;

    @Option(
            names = "--simulated-memory",
            defaultValue = "80GiB",
            paramLabel = "SIZE",
            description = "Memory of each simulated GPU, in MiB or GiB. Default: ${DEFAULT-VALUE}")
    private String simulatedMemory;

    @Option(names = "--simulated-mig", description = "Allow MIG instances on the simulated GPUs")
    private boolean simulatedMig;

    @Option(
            names = "--most-paused",
            defaultValue = "4",
            paramLabel = "N",
            description = {
                "Keep at most N attempts paused: their devices are free, their processes are stopped and keep "
                        + "their main"
                        + " memory, with the content of their GPUs' memory. 0: pause nothing. Default: ${DEFAULT-VALUE}"
            })
    private int maxPaused;

    @Option(
            names = "--cuda-checkpoint",
            paramLabel = "FILE",
            description = {
                "NVIDIA's program that moves the memory of a process off its GPUs. Without it, the agent pauses nothing on real"
                        + " GPUs. Default: cuda-checkpoint, if it is installed"
            })
    private @Nullable Path cudaCheckpoint;

    /** Set by picocli before {@link #call}. */
    @SuppressWarnings("NullAway.Init")
    public AgentCommand() {}

    public static void main(String... arguments) {
        System.exit(new CommandLine(new AgentCommand())
                .setCommandName("qm agent")
                .setExpandAtFiles(false)
                .execute(arguments));
    }

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        try {
            Agent agent = Agent.start(config(out));
            Runtime.getRuntime().addShutdownHook(new Thread(() -> close(agent)));
            log(out, "agent of node %s, service %s".formatted(node, server));
            agent.join();
            return 0;
        } catch (IOException e) {
            err.println("qm agent: " + e.getMessage());
            return CANNOT_START;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return 0;
        }
    }

    private static void close(Agent agent) {
        try {
            agent.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void log(PrintWriter out, String line) {
        out.println(Instant.now().truncatedTo(ChronoUnit.MILLIS) + " " + line);
        out.flush();
    }

    AgentConfig config(PrintWriter out) throws IOException {
        Isolation wanted = isolationWanted();
        if (trustTenants && wanted != Isolation.NONE) {
            throw invalidOption("--trust-tenants only goes with --isolation none");
        }
        try {
            return new AgentConfig(
                    requireWebAddress("--server", server),
                    node,
                    new Credentials(requireWebAddress("--token-url", tokenUrl), clientId, secret()),
                    stateDir,
                    devices(),
                    wanted,
                    trustTenants,
                    stopWorkOnExit,
                    new PauseSettings(maxPaused, Optional.ofNullable(cudaCheckpoint)),
                    new WorkSettings(confinement(wanted), checkpointRetention),
                    Pace.DEFAULT,
                    line -> log(out, line));
        } catch (IllegalArgumentException e) {
            throw invalidOption(e.getMessage());
        }
    }

    private Confinement confinement(Isolation wanted) {
        List<Confinement> given = new ArrayList<>();
        Integer user = workUser;
        if (user != null) {
            given.add(new Confinement.OtherUser(user));
        }
        if (!hidden.isEmpty()) {
            given.add(new Confinement.HiddenFolders(hidden));
        }
        if (demonstrationOnly) {
            given.add(new Confinement.DemonstrationOnly());
        }
        if (given.size() > 1) {
            throw invalidOption("give one of --work-user, --hide and --demonstration-only");
        }
        if (!given.isEmpty() && wanted != Isolation.NONE) {
            throw invalidOption("--work-user, --hide and --demonstration-only only go with --isolation none");
        }
        return given.isEmpty() ? new Confinement.None() : given.getFirst();
    }

    private Isolation isolationWanted() {
        return switch (isolation) {
            case "os-user" -> Isolation.OS_USER;
            case "none" -> Isolation.NONE;
            default -> throw invalidOption("--isolation is os-user or none, not '%s'".formatted(isolation));
        };
    }

    private Devices devices() {
        Integer count = simulatedGpus;
        if (count == null) {
            return new Devices.Real();
        }
        if (count < 0 || count > 256) {
            throw invalidOption("--simulated-gpus is from 0 to 256");
        }
        return new Devices.Simulated(count, simulatedModel, memoryMiB(simulatedMemory), simulatedMig);
    }

    static long memoryMiB(String size) {
        String text = size.strip().toLowerCase(Locale.ROOT);
        if (text.matches("\\d{1,7}gib")) {
            return Long.parseLong(text.substring(0, text.length() - 3)) * 1_024;
        }
        if (text.matches("\\d{1,9}mib")) {
            return Long.parseLong(text.substring(0, text.length() - 3));
        }
        throw new IllegalArgumentException("'%s' is not a size such as 80GiB or 81920MiB".formatted(size));
    }

    private URI requireWebAddress(String option, URI address) {
        String scheme = address.getScheme();
        if (address.getHost() == null || !("http".equals(scheme) || "https".equals(scheme))) {
            throw invalidOption(
                    "%s is an address that begins with http:// or https://, not '%s'".formatted(option, address));
        }
        return address;
    }

    /** The secret is never an option's value: every user of the machine can read those. */
    private String secret() throws IOException {
        String secret = clientSecretFile != null ? Files.readString(clientSecretFile) : System.getenv(SECRET_VARIABLE);
        if (secret == null || secret.isBlank()) {
            throw invalidOption("the client's secret is missing: --client-secret-file or " + SECRET_VARIABLE);
        }
        return secret.strip();
    }

    private ParameterException invalidOption(@Nullable String message) {
        return new ParameterException(spec.commandLine(), String.valueOf(message));
    }
}
