package io.quartermaster.platform;

import io.quartermaster.platform.db.SystemDatabase;
import io.vertx.mutiny.sqlclient.Pool;

/** The system role's door to a database that is not the service's own. */
public final class SystemDatabases {

    private SystemDatabases() {}

    public static SystemDatabase on(Pool pool) {
        return new SystemDatabase(pool);
    }
}
