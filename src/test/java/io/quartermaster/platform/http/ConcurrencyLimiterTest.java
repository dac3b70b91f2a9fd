package io.quartermaster.platform.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.quartermaster.platform.TenantId;
import io.smallrye.mutiny.Uni;
import io.smallrye.mutiny.subscription.UniEmitter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The number of pieces of work that run at the same time. */
class ConcurrencyLimiterTest {

    private static final Optional<TenantId> ACME = Optional.of(new TenantId("acme"));
    private static final Optional<TenantId> GLOBEX = Optional.of(new TenantId("globex"));
    private static final Optional<TenantId> OPERATOR = Optional.empty();

    private final ConcurrencyLimiter concurrencyLimiter = new ConcurrencyLimiter("simulations", 2, 1);
    private final List<UniEmitter<? super String>> underWay = new ArrayList<>();

    private Uni<String> work() {
        return Uni.createFrom().emitter(underWay::add);
    }

    private void begin(Optional<TenantId> asker) {
        concurrencyLimiter.runLimited(asker, this::work).subscribe().with(done -> {}, failure -> {});
    }

    private void refused(Optional<TenantId> asker, int status, String code) {
        assertThatExceptionOfType(ProblemException.class)
                .isThrownBy(() -> concurrencyLimiter
                        .runLimited(asker, () -> Uni.createFrom().item("worked out"))
                        .await()
                        .indefinitely())
                .satisfies(e -> {
                    assertThat(e.problem().status()).isEqualTo(status);
                    assertThat(e.problem().code()).isEqualTo(code);
                });
    }

    private String answered(Optional<TenantId> asker) {
        return concurrencyLimiter
                .runLimited(asker, () -> Uni.createFrom().item("worked out"))
                .await()
                .indefinitely();
    }

    @Test
    void aTenantThatHasItsPartLeavesTheRestToOthers() {
        begin(ACME);
        refused(ACME, 429, "too-many-simulations");
        assertThat(answered(GLOBEX)).isEqualTo("worked out");
        assertThat(answered(OPERATOR)).isEqualTo("worked out");
    }

    @Test
    void whenAllPlacesAreTakenEverybodyIsAskedToComeAgain() {
        begin(ACME);
        begin(OPERATOR);
        refused(GLOBEX, 503, "busy");
        refused(OPERATOR, 429, "too-many-simulations");
    }

    @Test
    void aPlaceIsFreeAgainHoweverItsSimulationEnds() {
        begin(ACME);
        underWay.getFirst().complete("worked out");
        begin(ACME);
        underWay.getLast().fail(new IllegalStateException("not worked out"));
        concurrencyLimiter
                .runLimited(ACME, this::work)
                .subscribe()
                .with(done -> {})
                .cancel();
        assertThat(answered(ACME)).isEqualTo("worked out");
    }

    @Test
    void workThatCannotBeginLeavesItsPlace() {
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> concurrencyLimiter
                .runLimited(ACME, () -> {
                    throw new IllegalStateException("cannot begin");
                })
                .await()
                .indefinitely());
        assertThat(answered(ACME)).isEqualTo("worked out");
    }
}
