package io.quartermaster.metering;

import io.quartermaster.metering.audit.AuditApi;
import io.quartermaster.metering.audit.AuditService;
import io.quartermaster.platform.db.SystemDatabase;
import io.smallrye.config.SmallRyeConfig;
import java.util.List;
import org.eclipse.microprofile.config.ConfigProvider;

/** The result of an audit of a database that is not the service's own. */
public final class BooksOf {

    private BooksOf() {}

    /** Audits all tenants; returns each violation as one line. */
    @SuppressWarnings("NullAway") // an audit without an API call has no operation
    public static List<String> violations(SystemDatabase database) {
        MeteringConfig config =
                ConfigProvider.getConfig().unwrap(SmallRyeConfig.class).getConfigMapping(MeteringConfig.class);
        return new AuditService(database, null, config)
                .audit(new AuditApi.Request(null, null, null)).violations().stream()
                        .map(AuditApi.Violation::toString)
                        .toList();
    }
}
