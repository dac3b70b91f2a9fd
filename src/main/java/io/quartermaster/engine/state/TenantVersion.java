package io.quartermaster.engine.state;

/** The changes of one tenant that may let its work evict other work of the same tenant that it could not before. */
final class TenantVersion {
    private long changes;

    /** Records that its use, its shares, or the age of its running work has changed. */
    void recordChange() {
        changes++;
    }

    long changes() {
        return changes;
    }
}
