package io.quartermaster.engine.model;

/**
 * All requests in one pool that devices treat alike.
 *
 * @param workers the number of workers to place
 * @param tenant the tenant whose GPUs they may share; empty if the tenant does not matter
 */
public record RequestKey(PoolId pool, Shape shape, int workers, String tenant) {}
