/**
 * The web origins whose pages may call the API, tenant by tenant.
 *
 * <p>Owns: the table {@code allowed_origins}, its resource, the CORS answers.
 *
 * <p>Does not own: tenants themselves (package {@code tenancy}).
 *
 * <p>Invariants: a CORS answer never causes a database query: it comes from the origins in memory.
 */
@NullMarked
package io.quartermaster.tenancy.origins;

import org.jspecify.annotations.NullMarked;
