/**
 * The lifecycle of tenants: creation from blueprints step by step, suspension, resumption and offboarding.
 *
 * <p>Owns: the tables {@code tenant} and {@code allowed_origins}, the root folder {@code tenants/} (blueprints and
 * realm templates), the realms in Keycloak, the interface {@link io.quartermaster.tenancy.ProvisioningStep}.
 *
 * <p>Does not own: the allotments of a tenant ({@code capacity}) and the policies of its groups ({@code governance});
 * the check of tokens ({@code access}).
 *
 * <p>Invariants: a tenant is created once per id, even if the request is repeated; each step can be applied twice; a
 * tenant's tokens are valid only while it is active, or suspended.
 */
@NullMarked
package io.quartermaster.tenancy;

import org.jspecify.annotations.NullMarked;
