/**
 * PostgreSQL, Redis, Keycloak and an agent that the program starts itself, for one machine: a developer's, a
 * demonstration, a small site.
 *
 * <p>Owns: the data folder's layout and marker; its generated passwords; the programs as child processes; the database
 * roles and databases; the configuration that points the service at them.
 *
 * <p>Does not own: the schema (Flyway, as {@code qm_owner}), realms (package {@code tenancy}), the location of the
 * folder and the ports (package {@code cli}). This package is not used when all three are external.
 *
 * <p>Invariants: every acknowledged write is on disk (fsync on); no role is superuser or bypasses row-level security;
 * no password is the same in two data folders, and none is on a command line; every started child is ended at close, or
 * found again by the next start.
 */
@NullMarked
package io.quartermaster.embedded;

import org.jspecify.annotations.NullMarked;
