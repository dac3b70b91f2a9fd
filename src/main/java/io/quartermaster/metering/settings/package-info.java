/**
 * What a tenant states about its usage: the label keys that usage is summed by, and its time zone.
 *
 * <p>Owns: the table {@code usage_settings} and its resource.
 *
 * <p>Does not own: usage itself (package {@code metering}), and the labels of workloads ({@code workloads}). The leader
 * ({@code dispatch}) reads the declared keys when it binds an allocation.
 *
 * <p>Invariants: a declaration counts for allocations that begin after it; a key that was declared once is remembered.
 */
@NullMarked
package io.quartermaster.metering.settings;

import org.jspecify.annotations.NullMarked;
