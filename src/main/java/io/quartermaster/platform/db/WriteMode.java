package io.quartermaster.platform.db;

/**
 * Whether a write is committed, or only checked ({@code ?dryRun=true}): a dry run does everything and then rolls back.
 */
public enum WriteMode {
    COMMIT,
    DRY_RUN
}
