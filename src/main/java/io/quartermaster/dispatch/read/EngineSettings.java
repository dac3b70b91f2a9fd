package io.quartermaster.dispatch.read;

import io.quartermaster.engine.model.Settings;
import java.time.Duration;
import java.util.OptionalLong;

/** How the cell schedules, as the operator set it: the same for the leader and for whoever foretells what it will do. */
final class EngineSettings {

    private EngineSettings() {}

    /**
     * @throws IllegalArgumentException if one setting needs another that is not there, or is too small
     */
    static Settings of(DispatchConfig config) {
        if (!config.entryPenalty().isZero() && config.fairnessWindow().isEmpty()) {
            throw new IllegalArgumentException(
                    "quartermaster.dispatch.entry-penalty needs quartermaster.dispatch.fairness-window");
        }
        if (config.backfillReservations() < 1) {
            throw new IllegalArgumentException("quartermaster.dispatch.backfill-reservations is at least 1");
        }
        return Settings.DEFAULT
                .but()
                .minRuntimeMillis(config.minRuntime().toMillis())
                .borrow(config.borrow())
                .patienceMillis(OptionalLong.of(config.patience().toMillis()))
                .backfillReservations(config.backfillReservations())
                .fairnessWindowMillis(config.fairnessWindow()
                        .map(Duration::toMillis)
                        .map(OptionalLong::of)
                        .orElse(OptionalLong.empty()))
                .entryPenaltyMillis(config.entryPenalty().toMillis())
                .settings();
    }
}
