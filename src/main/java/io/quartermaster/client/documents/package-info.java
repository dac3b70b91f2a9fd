/**
 * Files of documents, and how the objects that they state are made.
 *
 * <p>Owns: reading YAML and JSON with the types of the API; the plan of {@code qm apply}, its text, and the order of
 * its changes.
 *
 * <p>Does not own: the kinds of objects and their routes ({@code client.rules}, {@code client.operator}); the checks
 * and effects of a change, which the service states.
 *
 * <p>Invariants: a plan that is refused changes nothing. A change names the version that the plan compared.
 */
@NullMarked
package io.quartermaster.client.documents;

import org.jspecify.annotations.NullMarked;
