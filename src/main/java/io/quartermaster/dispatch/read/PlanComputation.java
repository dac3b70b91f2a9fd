package io.quartermaster.dispatch.read;

import io.quartermaster.engine.Engine;
import io.quartermaster.engine.model.Plan;

/**
 * The computation of a plan by an engine. The leader uses {@code Engine::plan}; tests use others to see the effects of
 * a wrong plan.
 */
public interface PlanComputation {

    Plan plan(Engine engine, long nowMillis);
}
