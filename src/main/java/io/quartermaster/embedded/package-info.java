/**
 * PostgreSQL, Redis and Keycloak started by the program itself, and an agent beside them, for one machine: a developer's, a demonstration, a
 * small site.
 *
 * <p>Owns: the data folder's layout and marker, the passwords generated in it, the programs as child processes, the database
 * roles and databases, and the configuration that points the service at them.
 *
 * <p>Does not own: the schema (Flyway, as {@code qm_owner}), realms (that is {@code tenancy}), where the folder is and which ports are
 * used (that is {@code cli}). Nothing here is used when the three are given from outside.
 *
 * <p>Invariants: what is acknowledged is on disk (fsync on); no role is superuser or passes row-level security; no password is the same in
 * two data folders, and none is on a command line; every child that was started is ended at close, or found again by the next start.
 */
@NullMarked
package io.quartermaster.embedded;

import org.jspecify.annotations.NullMarked;
