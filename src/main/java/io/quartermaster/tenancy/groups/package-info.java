/**
 * Groups, users and clients of a tenant's realm, read from Keycloak and created there.
 *
 * <p>Owns: the resource for groups, the lists that policies and access rules name.
 *
 * <p>Does not own: what a group is granted (package {@code governance}).
 *
 * <p>Invariants: Keycloak is called outside database transactions; a group is created once, also when the request
 * is repeated.
 */
@NullMarked
package io.quartermaster.tenancy.groups;

import org.jspecify.annotations.NullMarked;
