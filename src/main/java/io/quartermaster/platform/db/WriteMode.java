package io.quartermaster.platform.db;

/** Whether a write is kept, or only checked ({@code ?dryRun=true}): everything is done, then rolled back. */
public enum WriteMode {
    COMMIT,
    DRY_RUN
}
