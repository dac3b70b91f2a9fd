/**
 * The lists of roles and permissions.
 *
 * <p>Owns: the resource for roles.
 *
 * <p>Does not own: the roles and permissions ({@code access}), or who has them (the realms in Keycloak).
 *
 * <p>Invariants: the lists are those by which the gate decides.
 */
@NullMarked
package io.quartermaster.access.roles;

import org.jspecify.annotations.NullMarked;
