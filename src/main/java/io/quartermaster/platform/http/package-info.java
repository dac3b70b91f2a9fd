/**
 * Conventions of requests and answers: problem documents, pages, merge patches, JSON.
 *
 * <p>Owns: the form of every error, the JSON settings, streamed responses, the notice of a shutdown to open requests.
 *
 * <p>Does not own: filters that run before a route is found (package {@code platform.filters}).
 *
 * <p>Invariants: every error leaves as an RFC 9457 problem document; the cause of an internal failure is logged and not
 * part of the answer.
 */
@NullMarked
package io.quartermaster.platform.http;

import org.jspecify.annotations.NullMarked;
