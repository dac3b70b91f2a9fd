/**
 * The generated OpenAPI contract: what holds for every operation and is stated once.
 *
 * <p>Owns: amounts, problems, headers, examples and descriptions in the contract.
 *
 * <p>Does not own: the resources whose contract it is.
 *
 * <p>Invariants: the contract says what the service does; tests compare both.
 */
@NullMarked
package io.quartermaster.platform.contract;

import org.jspecify.annotations.NullMarked;
