package io.quartermaster.dispatch.read;

import io.quartermaster.engine.model.Settings;
import io.smallrye.config.SmallRyeConfigBuilder;

/** The engine's settings in a service whose operator sets none, for benchmarks and tests. */
public final class ShippedEngineSettings {

    private ShippedEngineSettings() {}

    public static Settings get() {
        return EngineSettings.of(new SmallRyeConfigBuilder()
                .addDiscoveredConverters()
                .withMapping(DispatchConfig.class)
                .build()
                .getConfigMapping(DispatchConfig.class));
    }
}
