/**
 * Tests that are generated from the contract. They check that the contract is the committed one and that no route lets
 * one tenant see another. They also check the rights of each role and the refusal of invalid input.
 *
 * <p>Owns: {@link io.quartermaster.contract.Contract}, the contract as tests read it; the two tenants that every
 * generated test uses.
 *
 * <p>Does not own: the behaviour of routes for valid requests; the capabilities' own tests show that.
 *
 * <p>Invariants: every operation of the contract is in every test that concerns it; an operation without the necessary
 * ids or body fails the test.
 */
@NullMarked
package io.quartermaster.contract;

import org.jspecify.annotations.NullMarked;
