/**
 * The load run of {@code qm load}.
 *
 * <p>Owns: its clients, its tenant, its report.
 *
 * <p>Does not own: the service that it measures.
 *
 * <p>Invariants: it measures a service of its own, never against one with real tenants.
 */
@NullMarked
package io.quartermaster.cli.load;

import org.jspecify.annotations.NullMarked;
