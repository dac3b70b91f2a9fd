package io.quartermaster.tenancy;

import io.quartermaster.access.GroupPath;
import java.util.List;

/**
 * Groups of a realm.
 *
 * @param truncated whether the realm has more groups than these
 */
public record GroupList(List<GroupPath> paths, boolean truncated) {

    public GroupList {
        paths = List.copyOf(paths);
    }
}
