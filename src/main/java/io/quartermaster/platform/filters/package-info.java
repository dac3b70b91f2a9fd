/**
 * Checks and limits that a request meets before its route is found.
 *
 * <p>Owns: the order of filters, limits on bodies, hosts, methods, media types and rates, request metrics.
 *
 * <p>Does not own: authentication and permissions (package {@code access}).
 *
 * <p>Invariants: a request that is refused here has no effect; the answer is a problem document.
 */
@NullMarked
package io.quartermaster.platform.filters;

import org.jspecify.annotations.NullMarked;
