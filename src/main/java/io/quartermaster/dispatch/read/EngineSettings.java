package io.quartermaster.dispatch.read;

import io.quartermaster.engine.model.Settings;
import java.time.Duration;
import java.util.OptionalLong;

/** The engine's settings of the cell, as the operator configures them. The leader and the forecasts use them alike. */
final class EngineSettings {

    private EngineSettings() {}

    /** @throws IllegalArgumentException if a setting is too small, or needs another one that is absent */
    static Settings of(DispatchConfig config) {
        if (!config.entryPenalty().isZero() && config.fairnessWindow().isEmpty()) {
            throw new IllegalArgumentException(
                    "quartermaster.dispatch.entry-penalty needs quartermaster.dispatch.fairness-window");
        }
        if (config.backfillReservations() < 1) {
            throw new IllegalArgumentException("quartermaster.dispatch.backfill-reservations must be at least 1");
        }
        return Settings.DEFAULT.toBuilder()
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
