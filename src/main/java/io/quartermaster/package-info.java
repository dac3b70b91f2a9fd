/**
 * The program: one jar, whose first word on the command line says what it does.
 *
 * <p>Owns: the entry point, {@link io.quartermaster.Main}.
 *
 * <p>Does not own: any command; they are in the packages below.
 *
 * <p>Invariants: nothing imports this package.
 */
@NullMarked
package io.quartermaster;

import org.jspecify.annotations.NullMarked;
