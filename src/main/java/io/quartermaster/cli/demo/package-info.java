/**
 * The demonstration of {@code qm demo}.
 *
 * <p>Owns: its tenants, its users, its story.
 *
 * <p>Does not own: the service, which it uses through the public API only.
 *
 * <p>Invariants: each scene waits for its end condition, and reports the state of the jobs if the condition does not
 * hold in time.
 */
@NullMarked
package io.quartermaster.cli.demo;

import org.jspecify.annotations.NullMarked;
