package io.quartermaster.dispatch;

import io.quartermaster.engine.Settings;
import java.time.Duration;
import java.util.OptionalLong;

/** How the cell schedules, as the operator set it: the same for the leader and for whoever foretells what it will do. */
final class EngineSettings {

    private EngineSettings() {}

    static Settings of(DispatchConfig config) {
        return new Settings(
                config.minRuntime().toMillis(),
                0,
                0,
                Settings.Spill.BEFORE_PREEMPTING,
                true,
                Settings.Reclaim.FAIR_SHARE,
                OptionalLong.of(config.patience().toMillis()),
                config.fairnessWindow()
                        .map(Duration::toMillis)
                        .map(OptionalLong::of)
                        .orElse(OptionalLong.empty()),
                OptionalLong.empty());
    }
}
