package io.quartermaster.platform.db;

import java.util.List;

/** A capability's retention rules for its tables. {@link RetentionCleaner} finds the beans of this type. */
public interface RetentionSource {

    List<Retention> retentions();
}
