/**
 * Groups, users and clients of a tenant's realm, read from Keycloak and created there.
 *
 * <p>Owns: the resource for groups, the lookups of groups, users and clients for policies and access rules.
 *
 * <p>Does not own: the grants to groups (package {@code governance}).
 *
 * <p>Invariants: Keycloak is called outside database transactions; a group is created once, even if the request is
 * repeated.
 */
@NullMarked
package io.quartermaster.tenancy.groups;

import org.jspecify.annotations.NullMarked;
