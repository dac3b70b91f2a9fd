/**
 * The feed of changes, and the live views that stream it.
 *
 * <p>Owns: reading the feed, one subscription per replica, the streams of all views.
 *
 * <p>Does not own: writing the feed (the leader does).
 *
 * <p>Invariants: a view that reconnects with its last id misses nothing that is still kept.
 */
@NullMarked
package io.quartermaster.workloads.feed;

import org.jspecify.annotations.NullMarked;
