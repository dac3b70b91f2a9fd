package io.quartermaster.dispatch.read;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Plan;

/** Asks an engine for its plan. The leader's is {@code Engine::plan}; another one is how tests see what a wrong plan does. */
public interface PlanComputation {

    Plan plan(Engine engine, long nowMillis);
}
