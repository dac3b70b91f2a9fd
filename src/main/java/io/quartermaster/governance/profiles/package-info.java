/**
 * Profiles in the API.
 *
 * <p>Owns: the resource, the request and answer types, the reader and the service of profiles.
 *
 * <p>Does not own: the comparison of a profile with nodes (package {@code governance}).
 *
 * <p>Invariants: a what-if and a profile accept the same shapes, since one reader reads both.
 */
@NullMarked
package io.quartermaster.governance.profiles;

import org.jspecify.annotations.NullMarked;
