package io.quartermaster.platform.db;

import java.time.Duration;

/**
 * Rows of a table that are deleted, or emptied, some time after the moment that dates them.
 *
 * @param name what it is called in metrics and logs
 * @param delete a statement that takes at most {@code $3} rows dated from {@code $1} on and before {@code $2}, the oldest first, passes over rows
 *     that others hold, and deletes those of them that are not to stay. It answers one row: {@code rows}, how many it took; {@code deleted},
 *     how many of these it deleted; {@code latest}, the latest of their dates
 * @param oldest a query for {@code oldest}, the date of the oldest row that is deleted once it is old enough; null when there is none
 */
public record Retention(String name, Duration kept, String delete, String oldest) {}
