/**
 * Tests that are generated from the contract: that it is the committed one, that no route lets one tenant see another, who may call what,
 * and how bad input is met.
 *
 * <p>Owns: {@link io.quartermaster.contract.Contract}, the contract as tests read it; the two tenants every generated test plays with.
 *
 * <p>Does not own: what the routes do when they are called as meant; the capabilities' own tests show that.
 *
 * <p>Invariants: every operation of the contract is in every test it concerns; one without the ids or the body it needs fails the test.
 */
@NullMarked
package io.quartermaster.contract;

import org.jspecify.annotations.NullMarked;
