/**
 * The base of the integration tests: real PostgreSQL, Redis and Keycloak, started once for all of them.
 *
 * <p>Owns: {@link io.quartermaster.testing.EmbeddedServicesResource}, which every {@code @QuarkusTest} gets
 * automatically.
 *
 * <p>Does not own: tenants, tokens and fixtures of the capabilities; their tests create them.
 *
 * <p>Invariants: every run begins with an empty database; its processes end with it, or the next run ends them.
 */
@NullMarked
package io.quartermaster.testing;

import org.jspecify.annotations.NullMarked;
