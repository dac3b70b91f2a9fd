/**
 * The people of a tenant: list, invite, roles and groups, disable. The realm in Keycloak is the source of truth; the
 * service stores no people.
 *
 * <p>Owns: the resource for people, and the rules of who may grant what.
 *
 * <p>Does not own: the roles ({@code access}), the groups ({@code tenancy.groups}), the first admin of a tenant, which
 * the operator makes ({@code tenancy}).
 *
 * <p>Invariants: Keycloak is called outside database transactions. No change is made without an audit entry, which
 * commits before the call. A tenant keeps at least one enabled admin. A one-time password is shown once and stored
 * nowhere.
 */
@NullMarked
package io.quartermaster.tenancy.people;

import org.jspecify.annotations.NullMarked;
