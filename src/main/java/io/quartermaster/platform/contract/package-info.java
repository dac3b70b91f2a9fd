/**
 * The generated OpenAPI contract: the parts that all operations share, stated once.
 *
 * <p>Owns: amounts, problems, headers, examples and descriptions in the contract.
 *
 * <p>Does not own: the resources whose contract it is.
 *
 * <p>Invariants: the contract describes what the service does; tests compare both.
 */
@NullMarked
package io.quartermaster.platform.contract;

import org.jspecify.annotations.NullMarked;
