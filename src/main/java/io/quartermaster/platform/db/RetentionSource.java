package io.quartermaster.platform.db;

import java.util.List;

/** Says what of its tables is kept for how long. Beans of this type are found by {@link RetentionCleaner}. */
public interface RetentionSource {

    List<Retention> retentions();
}
