/**
 * The quota arithmetic: trees of reserved amounts, limits and weights, the use that counts against them, and fair
 * shares.
 *
 * <p>Owns: the numbers of each node of each tree, the division of a pool among siblings, the bounds of admission.
 *
 * <p>Does not own: devices, the order of waiting work, victims.
 *
 * <p>Invariants: an amount that is added to a leaf is added to every node above it; a fair share is fixed for a plan;
 * ratios are compared by cross-multiplying.
 */
@NullMarked
package io.quartermaster.engine.quota;

import org.jspecify.annotations.NullMarked;
