/**
 * How the commands of people print, and how they end.
 *
 * <p>Owns: exit codes and failures with a message; tables, documents in JSON and YAML, and names; durations and local
 * times as people write and read them; colours.
 *
 * <p>Does not own: the content of answers ({@code client.jobs}, {@code client.session}); requests
 * ({@code client.connection}).
 *
 * <p>Invariants: documents repeat the fields of the API and nothing else; colours appear only on a terminal, and never
 * with {@code NO_COLOR}.
 */
@NullMarked
package io.quartermaster.client.output;

import org.jspecify.annotations.NullMarked;
