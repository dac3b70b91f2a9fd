package io.quartermaster.launch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.introspect.Annotated;
import com.fasterxml.jackson.databind.introspect.JacksonAnnotationIntrospector;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.HTTPGetAction;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespace;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.PodTemplateSpec;
import io.fabric8.kubernetes.api.model.Service;
import io.fabric8.kubernetes.api.model.ServiceAccount;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.policy.v1.PodDisruptionBudget;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;

/** The manifests in {@code k8s/} are valid for Kubernetes and match the program. */
class K8sManifestsTest {

    private static final Path FOLDER = Path.of("k8s");
    private static final String MIGRATION = "25-migration.yaml";

    /** The model of each kind and version. */
    private static final Map<String, Class<? extends HasMetadata>> KINDS = Map.of(
            "v1 Namespace", Namespace.class,
            "v1 ConfigMap", ConfigMap.class,
            "v1 ServiceAccount", ServiceAccount.class,
            "v1 Service", Service.class,
            "apps/v1 Deployment", Deployment.class,
            "policy/v1 PodDisruptionBudget", PodDisruptionBudget.class,
            "networking.k8s.io/v1 NetworkPolicy", NetworkPolicy.class);

    /** The models gather unknown fields in a map; without its setter the mapper refuses them. */
    private static final ObjectMapper STRICT = new ObjectMapper()
            .setAnnotationIntrospector(new JacksonAnnotationIntrospector() {
                @Override
                public Boolean hasAnySetter(Annotated member) {
                    return false;
                }
            })
            .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY);

    @Test
    void everyKindIsThereOnce() throws IOException {
        assertThat(manifests().stream().map(HasMetadata::getKind))
                .containsExactlyInAnyOrder(
                        "Namespace",
                        "ConfigMap",
                        "ServiceAccount",
                        "Deployment",
                        "Service",
                        "PodDisruptionBudget",
                        "NetworkPolicy");
    }

    @Test
    void aFieldThatKubernetesDoesNotKnowIsRefused() {
        String manifest = """
                apiVersion: v1
                kind: Service
                metadata: {name: quartermaster}
                spec: {portz: []}
                """;

        assertThatThrownBy(() -> parse(manifest)).hasMessageContaining("portz");
    }

    @Test
    void everythingLivesInTheOneNamespace() throws IOException {
        String namespace = only(Namespace.class).getMetadata().getName();

        assertThat(manifests().stream().filter(one -> !(one instanceof Namespace)))
                .allSatisfy(one -> assertThat(one.getMetadata().getNamespace()).isEqualTo(namespace));
    }

    @Test
    void nothingIsEmbeddedAndEveryVariableIsRead() throws IOException {
        environment().assertThatNothingIsEmbedded();
        environment().assertThatEveryVariableIsRead();
    }

    @Test
    void passwordsComeFromTheSecretOnly() throws IOException {
        assertThat(only(ConfigMap.class).getData().keySet()).noneMatch(name -> name.contains("PASSWORD"));
        assertThat(container().getEnv().stream()
                        .filter(one -> one.getName().contains("PASSWORD")
                                || one.getName().equals("QM_REDIS_URL")))
                .hasSize(4)
                .allSatisfy(one -> {
                    assertThat(one.getValue()).isNull();
                    assertThat(one.getValueFrom().getSecretKeyRef().getName()).isEqualTo("quartermaster-credentials");
                });
    }

    @Test
    void onlyTheMigrationKnowsTheOwner() throws IOException {
        PodSpec pod = migration().getSpec();
        Container migration = pod.getContainers().getFirst();
        Map<String, String> variables =
                new LinkedHashMap<>(only(ConfigMap.class).getData());
        migration
                .getEnv()
                .forEach(one -> variables.put(one.getName(), one.getValue() == null ? "secret" : one.getValue()));

        assertThat(ExternalServices.migrations(variables)).containsEntry("quarkus.flyway.username", "qm_owner");
        GivenEnvironment.assertThatTheProgramTakes(migration.getArgs());
        assertThat(migration.getImage()).isEqualTo(container().getImage());
        assertThat(migration.getSecurityContext()).isEqualTo(container().getSecurityContext());
        assertThat(pod.getSecurityContext()).isEqualTo(pod().getSecurityContext());
        assertThat(environment().variables().keySet()).noneMatch(name -> name.contains("OWNER"));
        assertThat(migration.getEnv().getLast().getValueFrom().getSecretKeyRef().getName())
                .as("a secret that no replica reads")
                .isNotEqualTo("quartermaster-credentials");
    }

    @Test
    void portsAreThoseTheServiceListensOn() throws IOException {
        Map<String, Integer> ports = new LinkedHashMap<>();
        container().getPorts().forEach(one -> ports.put(one.getName(), one.getContainerPort()));

        assertThat(ports)
                .containsOnly(
                        Map.entry("http", environment().httpPort()),
                        Map.entry("management", environment().managementPort()));
        assertThat(only(Deployment.class).getSpec().getTemplate().getMetadata().getAnnotations())
                .containsEntry(
                        "prometheus.io/port", Integer.toString(environment().managementPort()));
        assertThat(only(Service.class).getSpec().getPorts())
                .singleElement()
                .satisfies(one -> assertThat(one.getTargetPort().getStrVal()).isEqualTo("http"));
        assertThat(only(NetworkPolicy.class).getSpec().getIngress())
                .as("whoever may call the API reads no metrics by that")
                .satisfiesExactlyInAnyOrder(
                        rule -> assertThat(rule.getPorts()).singleElement().satisfies(one -> assertThat(
                                        one.getPort().getStrVal())
                                .isEqualTo("http")),
                        rule -> assertThat(rule.getPorts()).singleElement().satisfies(one -> assertThat(
                                        one.getPort().getStrVal())
                                .isEqualTo("management")));
    }

    @Test
    void probesAskWhatTheServiceAnswers() throws IOException {
        String health = GivenEnvironment.healthRoot();

        assertThat(probe(container().getStartupProbe().getHttpGet())).isEqualTo(health + "/started");
        assertThat(probe(container().getReadinessProbe().getHttpGet())).isEqualTo(health + "/ready");
        assertThat(probe(container().getLivenessProbe().getHttpGet())).isEqualTo(health + "/live");
        assertThat(only(Deployment.class).getSpec().getTemplate().getMetadata().getAnnotations())
                .containsEntry("prometheus.io/path", GivenEnvironment.metricsPath());
    }

    @Test
    void theProgramTakesTheArguments() throws IOException {
        GivenEnvironment.assertThatTheProgramTakes(container().getArgs());
    }

    @Test
    void thePodKeepsToTheRestrictedProfile() throws IOException {
        assertThat(only(Namespace.class).getMetadata().getLabels())
                .containsEntry("pod-security.kubernetes.io/enforce", "restricted");
        assertThat(pod().getSecurityContext().getRunAsNonRoot()).isTrue();
        assertThat(pod().getSecurityContext().getRunAsUser()).isPositive();
        assertThat(pod().getSecurityContext().getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
        assertThat(container().getSecurityContext().getAllowPrivilegeEscalation())
                .isFalse();
        assertThat(container().getSecurityContext().getReadOnlyRootFilesystem()).isTrue();
        assertThat(container().getSecurityContext().getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(pod().getAutomountServiceAccountToken()).isFalse();
    }

    @Test
    void selectorsFindThePods() throws IOException {
        Map<String, String> labels =
                only(Deployment.class).getSpec().getTemplate().getMetadata().getLabels();

        assertThat(only(Deployment.class).getSpec().getSelector().getMatchLabels())
                .isEqualTo(labels);
        assertThat(only(Service.class).getSpec().getSelector()).isEqualTo(labels);
        assertThat(only(PodDisruptionBudget.class).getSpec().getSelector().getMatchLabels())
                .isEqualTo(labels);
        assertThat(only(NetworkPolicy.class).getSpec().getPodSelector().getMatchLabels())
                .isEqualTo(labels);
        assertThat(pod().getServiceAccountName())
                .isEqualTo(only(ServiceAccount.class).getMetadata().getName());
    }

    private static String probe(HTTPGetAction action) {
        assertThat(action.getPort().getStrVal()).isEqualTo("management");
        return action.getPath();
    }

    /** The environment of the container; the name of a secret's key represents its value. */
    private static GivenEnvironment environment() throws IOException {
        Map<String, String> variables =
                new LinkedHashMap<>(only(ConfigMap.class).getData());
        assertThat(container().getEnvFrom()).singleElement().satisfies(from -> assertThat(
                        from.getConfigMapRef().getName())
                .isEqualTo(only(ConfigMap.class).getMetadata().getName()));
        container()
                .getEnv()
                .forEach(one -> variables.put(one.getName(), one.getValue() == null ? "secret" : one.getValue()));
        return new GivenEnvironment(variables);
    }

    private static PodSpec pod() throws IOException {
        return only(Deployment.class).getSpec().getTemplate().getSpec();
    }

    private static Container container() throws IOException {
        return pod().getContainers().getFirst();
    }

    private static <T extends HasMetadata> T only(Class<T> kind) throws IOException {
        return manifests().stream()
                .filter(kind::isInstance)
                .map(kind::cast)
                .findFirst()
                .orElseThrow();
    }

    /** The pod of the job. The available models do not have the job's own fields, so this method names them. */
    private static PodTemplateSpec migration() throws IOException {
        Map<String, Object> job = tree(Files.readString(FOLDER.resolve(MIGRATION)));
        assertThat(job).containsEntry("apiVersion", "batch/v1").containsEntry("kind", "Job");
        assertThat(job.keySet()).containsExactlyInAnyOrder("apiVersion", "kind", "metadata", "spec");
        assertThat((Map<?, ?>) job.get("metadata"))
                .satisfies(metadata ->
                        assertThat(String.valueOf(metadata.get("namespace"))).isEqualTo("quartermaster"));
        Map<?, ?> spec = (Map<?, ?>) job.getOrDefault("spec", Map.of());
        assertThat(spec.keySet().stream().map(String::valueOf))
                .containsExactlyInAnyOrder(
                        "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished", "template");
        return STRICT.readValue(STRICT.writeValueAsString(spec.get("template")), PodTemplateSpec.class);
    }

    private static List<HasMetadata> manifests() throws IOException {
        try (Stream<Path> files = Files.list(FOLDER)) {
            List<Path> sorted =
                    files.filter(file -> !file.endsWith(MIGRATION)).sorted().toList();
            List<HasMetadata> parsed = new java.util.ArrayList<>();
            for (Path file : sorted) {
                assertThat(file.toString()).endsWith(".yaml");
                parsed.add(parse(Files.readString(file)));
            }
            return parsed;
        }
    }

    private static HasMetadata parse(String manifest) throws JsonProcessingException {
        Map<String, Object> tree = tree(manifest);
        Class<? extends HasMetadata> kind = KINDS.get(tree.get("apiVersion") + " " + tree.get("kind"));
        assertThat(kind).as("kind of %s", tree.get("kind")).isNotNull();
        return STRICT.readValue(STRICT.writeValueAsString(tree), kind);
    }

    private static Map<String, Object> tree(String manifest) {
        LoaderOptions options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        return new Yaml(options).load(manifest);
    }
}
