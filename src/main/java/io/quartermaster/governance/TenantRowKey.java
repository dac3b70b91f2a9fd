package io.quartermaster.governance;

import java.io.Serializable;
import java.util.UUID;

/** The primary key of a tenant's rows: the tenant first, so that no row can be found without it. */
record TenantRowKey(String tenantId, UUID id) implements Serializable {}
