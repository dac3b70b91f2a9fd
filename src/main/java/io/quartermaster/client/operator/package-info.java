/**
 * The commands of the operator's people.
 *
 * <p>Owns: the options, tables and documents of these commands; the kinds of documents of {@code qm tenants apply}.
 *
 * <p>Does not own: the sign-in, which is that of a tenant named {@code operator} ({@code client.session}).
 *
 * <p>Invariants: a command that changes several objects names those that it did not change. Nothing that cannot be
 * undone happens without its name given twice.
 */
@NullMarked
package io.quartermaster.client.operator;

import org.jspecify.annotations.NullMarked;
