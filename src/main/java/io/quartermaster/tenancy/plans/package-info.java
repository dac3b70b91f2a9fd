/**
 * The plans of tenants as the operator reads them.
 *
 * <p>Owns: the resource for plans.
 *
 * <p>Does not own: the blueprints, which are files that {@code tenancy} reads.
 *
 * <p>Invariants: no password of a blueprint is shown.
 */
@NullMarked
package io.quartermaster.tenancy.plans;

import org.jspecify.annotations.NullMarked;
