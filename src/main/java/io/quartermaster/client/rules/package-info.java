/**
 * The commands with which a tenant's admin reads and states the rules of the tenant, and reads its usage.
 *
 * <p>Owns: the kinds of rules in documents and their routes; the options and tables of these commands.
 *
 * <p>Does not own: the plan of {@code qm apply} ({@code client.documents}); the checks, which the service makes.
 *
 * <p>Invariants: {@code qm apply} changes nothing if it gets the documents that {@code qm get --documents} printed.
 */
@NullMarked
package io.quartermaster.client.rules;

import org.jspecify.annotations.NullMarked;
