/**
 * The books: usage events become segments, and equations over both say whether the books are right.
 *
 * <p>Owns: what is reserved, on-demand, reserved-idle, within or over-quota at every instant; where segments are cut;
 * the canonical text of a segment, its id, and the hash chain over such texts; sums of usage.
 *
 * <p>Does not own: where events and segments are stored and when an hour may close (metering), who may see them
 * (access), what they cost (a price book), and why an allocation began or ended (engine).
 *
 * <p>Invariants: the ordered stream of {@link io.quartermaster.ledger.UsageEvent}s is the only input, so the same
 * stream always gives the same segments with the same ids. Times are epoch milliseconds and amounts thousandths of a
 * GPU, both integers; nothing is sampled or rounded. A book holds one tenant. What was closed never changes. A stream
 * that cannot be true is refused and says why; nothing is dropped silently. No clock, no randomness, no threads.
 */
@NullMarked
package io.quartermaster.ledger;

import org.jspecify.annotations.NullMarked;
