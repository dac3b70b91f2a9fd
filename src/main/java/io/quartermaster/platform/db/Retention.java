package io.quartermaster.platform.db;

import java.time.Duration;

/**
 * A rule that deletes or empties rows of a table some time after the moment that dates them.
 *
 * @param name its name in metrics and logs
 * @param delete a statement that selects at most {@code $3} rows dated from {@code $1} to before {@code $2}, the oldest
 * first, and skips locked rows. It deletes those of them that need not stay. It returns one row: {@code rows}, how many
 * it selected; {@code deleted}, how many of these it deleted; {@code latest}, the latest of their dates
 * @param oldest a query for {@code oldest}, the date of the oldest row that the rule will delete; null when there is
 * none
 */
public record Retention(String name, Duration retention, String delete, String oldest) {}
