/**
 * The demonstration of {@code qm demo}.
 *
 * <p>Owns: its tenants, its users, its story.
 *
 * <p>Does not own: the service, which it uses through the public API only.
 *
 * <p>Invariants: each scene waits for what it needs and says what stands in the way where that does not come true.
 */
@NullMarked
package io.quartermaster.cli.demo;

import org.jspecify.annotations.NullMarked;
