package io.quartermaster.engine.benchmark;

/**
 * Scale of a representative cell.
 *
 * @param waiting the workloads that wait before the first plan
 * @param tenants the tenants, each with {@code groups} groups of {@code subgroups} subgroups
 */
record CellScale(int nodes, int waiting, int tenants, int groups, int subgroups, long seed) {
    private static final int NODES = 2_000;
    private static final int WAITING_PER_NODE = 20;

    /** The scale that system properties state. */
    static CellScale configured() {
        int nodes = Integer.getInteger("qm.bench.nodes", NODES);
        return new CellScale(
                nodes,
                Integer.getInteger("qm.bench.waiting", WAITING_PER_NODE * nodes),
                Integer.getInteger("qm.bench.tenants", 20),
                Integer.getInteger("qm.bench.groups", 20),
                Integer.getInteger("qm.bench.subgroups", 5),
                Long.getLong("qm.bench.seed", 7));
    }

    int leaves() {
        return tenants * groups * subgroups;
    }

    String text() {
        return String.format(
                java.util.Locale.ROOT,
                "%,d nodes, %,d waiting, %d x %d x %d groups, seed %d",
                nodes,
                waiting,
                tenants,
                groups,
                subgroups,
                seed);
    }
}
