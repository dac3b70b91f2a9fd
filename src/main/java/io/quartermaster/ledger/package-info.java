/**
 * The ledger: it turns usage events into segments, and checks by equations over both that the segments are correct.
 *
 * <p>Owns: the class and standing of usage (reserved, on-demand, reserved-idle, within, over-quota) at every instant;
 * where segments are cut; the canonical text of a segment, its id, and the hash chain over such texts; sums of usage.
 *
 * <p>Does not own: the storage of events and segments, and when an hour may close (metering); the right to see them
 * (access); their cost (a price book); the reason why an allocation began or ended (engine).
 *
 * <p>Invariants: the ordered stream of {@link io.quartermaster.ledger.UsageEvent}s is the only input, so the same
 * stream always gives the same segments with the same ids. Times are epoch milliseconds and amounts thousandths of a
 * GPU, both integers; nothing is sampled or rounded. A book holds one tenant. Closed hours never change. A
 * contradictory event is refused with a reason; no event is dropped silently. No clock, no randomness, no threads.
 */
@NullMarked
package io.quartermaster.ledger;

import org.jspecify.annotations.NullMarked;
