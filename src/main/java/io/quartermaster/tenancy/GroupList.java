package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import java.util.List;

/**
 * Groups of a realm.
 *
 * @param truncated whether the realm has more groups than these
 */
record GroupList(List<GroupPath> paths, boolean truncated) {

    GroupList {
        paths = List.copyOf(paths);
    }
}
