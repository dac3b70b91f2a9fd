package io.quartermaster.engine.placement;

import io.quartermaster.engine.model.Node;

/**
 * The room on a node after all evicted work has left.
 *
 * @param gpuMilli the free amount of each device, in the order of the node's devices
 * @param cpuMilli practically unlimited if the node does not state its processors
 * @param memoryMiB practically unlimited if the node does not state its memory
 */
public record FreeDevices(Node node, int[] gpuMilli, long cpuMilli, long memoryMiB) {}
