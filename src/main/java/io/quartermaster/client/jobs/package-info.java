/**
 * The commands with which members submit and follow work. People call a workload a job.
 *
 * <p>Owns: the options of these commands, which requests they make, and the words and tables that they print; finding
 * the workload that a person names.
 *
 * <p>Does not own: requests and the renewal of tokens ({@code client.connection}).
 *
 * <p>Invariants: a document that {@code -o json} prints has the fields of the API. Nothing is changed before all jobs
 * that a command names are found.
 */
@NullMarked
package io.quartermaster.client.jobs;

import org.jspecify.annotations.NullMarked;
