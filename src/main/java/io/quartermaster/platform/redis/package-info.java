/**
 * Lua scripts in Redis.
 *
 * <p>Owns: the one way to run a script, with its time limit.
 *
 * <p>Does not own: the meaning of a script (the package that brings it).
 *
 * <p>Invariants: Redis is called outside database transactions; the loss of Redis loses no work.
 */
@NullMarked
package io.quartermaster.platform.redis;

import org.jspecify.annotations.NullMarked;
