package io.quartermaster.platform;

import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Pool;

/** Access as the system role to a database other than the service's own. */
public final class SystemDatabases {

    private SystemDatabases() {}

    public static SystemDatabase on(Pool pool) {
        return new SystemDatabase(pool);
    }
}
