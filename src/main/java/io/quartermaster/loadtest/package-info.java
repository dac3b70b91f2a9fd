/**
 * Endpoints that only measurements use.
 *
 * <p>Owns: the insert that the load run compares submissions with.
 *
 * <p>Does not own: the load run itself ({@code cli.load}).
 *
 * <p>Invariants: no class imports this package; the service's own artefact does not contain it.
 */
@NullMarked
package io.quartermaster.loadtest;

import org.jspecify.annotations.NullMarked;
