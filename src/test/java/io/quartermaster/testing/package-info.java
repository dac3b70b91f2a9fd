/**
 * What integration tests stand on: real PostgreSQL, Redis and Keycloak, started once for all of them.
 *
 * <p>Owns: {@link io.quartermaster.testing.EmbeddedServicesResource}, which every {@code @QuarkusTest} gets without asking for it.
 *
 * <p>Does not own: tenants, tokens and fixtures of the capabilities; their tests bring them.
 *
 * <p>Invariants: every run begins with an empty database; what a run started is ended with it, or by the next one.
 */
@NullMarked
package io.quartermaster.testing;

import org.jspecify.annotations.NullMarked;
