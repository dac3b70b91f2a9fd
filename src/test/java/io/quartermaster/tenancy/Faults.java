package io.quartermaster.tenancy;

import io.smallrye.common.annotation.Identifier;
import io.smallrye.mutiny.Uni;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Steps between the real ones. They fail once for each tenant whose name begins with {@link #FAULTY}. */
final class Faults {

    static final String FAULTY = "faulty-";

    @Produces
    @Singleton
    @Identifier("before-realm")
    ProvisioningStep beforeRealm() {
        return new FailsOnce("fault-before-realm", 99);
    }

    @Produces
    @Singleton
    @Identifier("before-identities")
    ProvisioningStep beforeIdentities() {
        return new FailsOnce("fault-before-identities", 199);
    }

    @Produces
    @Singleton
    @Identifier("before-issuer")
    ProvisioningStep beforeIssuer() {
        return new FailsOnce("fault-before-issuer", Integer.MAX_VALUE - 1);
    }

    @Produces
    @Singleton
    @Identifier("at-the-end")
    ProvisioningStep atTheEnd() {
        return new FailsOnce("fault-at-the-end", 999);
    }

    private static final class FailsOnce implements ProvisioningStep {
        private final String name;
        private final int order;
        private final Set<TenantSpec> failed = ConcurrentHashMap.newKeySet();

        FailsOnce(String name, int order) {
            this.name = name;
            this.order = order;
        }

        @Override
        public String name() {
            return name;
        }

        @Override
        public int order() {
            return order;
        }

        @Override
        public Uni<Void> apply(TenantSpec tenant) {
            return tenant.id().value().startsWith(FAULTY) && failed.add(tenant)
                    ? Uni.createFrom().failure(new IllegalStateException(name + " was asked to fail"))
                    : Uni.createFrom().voidItem();
        }

        @Override
        public Uni<Void> undo(TenantSpec tenant) {
            return Uni.createFrom().voidItem();
        }
    }
}
