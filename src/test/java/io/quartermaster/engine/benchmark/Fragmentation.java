package io.quartermaster.engine.benchmark;

import io.quartermaster.engine.model.Node;

/**
 * The free GPUs of a cell, over its nodes that are up.
 *
 * @param free the free part of all GPUs
 * @param ofFreeOnPartlyUsed the part of the free capacity that is on partly used GPUs, so that no whole GPU fits there
 */
record Fragmentation(double free, double ofFreeOnPartlyUsed) {

    static Fragmentation of(CellModel model) {
        long all = 0;
        long free = 0;
        long onPartlyUsed = 0;
        for (CellModel.NodeUse use : model.nodes()) {
            Node node = use.node;
            if (node == null || !node.up()) {
                continue;
            }
            for (Node.Device device : node.devices()) {
                int left = 1_000 - use.device(device.index()).gpuMilli[CellModel.View.NOW.ordinal()];
                all += 1_000;
                free += left;
                onPartlyUsed += left < 1_000 ? left : 0;
            }
        }
        return new Fragmentation((double) free / all, free == 0 ? 0 : (double) onPartlyUsed / free);
    }
}
