/**
 * Tenants: made from blueprints, step by step, shut and opened again, and offboarded.
 *
 * <p>Owns: the tables {@code tenant} and {@code allowed_origins}, the root folder {@code tenants/} (blueprints and realm templates), the realms in
 * Keycloak, the interface {@link io.quartermaster.tenancy.ProvisioningStep}.
 *
 * <p>Does not own: what a tenant may use (allotments are {@code capacity}'s) or grants its groups (policies are {@code governance}'s);
 * the check of tokens ({@code access}).
 *
 * <p>Invariants: making a tenant is asked for once per id, whatever is sent again; each step can be applied twice; a tenant's tokens count
 * only while it is active, or suspended.
 */
@NullMarked
package io.quartermaster.tenancy;

import org.jspecify.annotations.NullMarked;
