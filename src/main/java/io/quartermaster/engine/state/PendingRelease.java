package io.quartermaster.engine.state;

import io.quartermaster.engine.model.Allocation;

/**
 * Evicted work, or evicted workers, that still hold devices.
 *
 * @param deadlineMillis when they have left at the latest
 */
public record PendingRelease(Allocation allocation, long deadlineMillis) {}
