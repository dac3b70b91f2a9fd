package io.quartermaster.dispatch;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.Plan;

/** Asks an engine for its plan. The leader's is {@code Engine::plan}; another one is how tests see what a wrong plan does. */
interface Planning {

    Plan plan(Engine engine, long nowMillis);
}
