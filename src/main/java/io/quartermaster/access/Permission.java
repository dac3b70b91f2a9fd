package io.quartermaster.access;

/** A right to act on a kind of resource, written {@code resource:verb} in problems, the contract and the docs. */
public enum Permission {
    TENANTS_READ("tenants:read"),
    TENANTS_WRITE("tenants:write"),
    /** To create a tenant's first admin and to issue the secret of its automation. */
    TENANTS_CREDENTIAL("tenants:credential"),
    /** To set the origins whose web pages may call the API for a tenant. */
    ORIGINS_WRITE("origins:write"),
    GROUPS_READ("groups:read"),
    GROUPS_WRITE("groups:write"),
    /** To see the people of a tenant with their roles and groups. */
    PEOPLE_READ("people:read"),
    /** To invite people, to set their roles and groups, and to disable them. */
    PEOPLE_WRITE("people:write"),
    CLUSTERS_READ("clusters:read"),
    CLUSTERS_WRITE("clusters:write"),
    NODES_READ("nodes:read"),
    NODES_WRITE("nodes:write"),
    /** To issue the credential of a node's agent. */
    NODES_CREDENTIAL("nodes:credential"),
    POOLS_READ("pools:read"),
    POOLS_WRITE("pools:write"),
    ALLOTMENTS_READ("allotments:read"),
    ALLOTMENTS_WRITE("allotments:write"),
    CAPACITY_RESERVATIONS_READ("capacity-reservations:read"),
    CAPACITY_RESERVATIONS_WRITE("capacity-reservations:write"),
    PROFILES_READ("profiles:read"),
    PROFILES_WRITE("profiles:write"),
    POLICIES_READ("policies:read"),
    POLICIES_WRITE("policies:write"),
    QUEUES_READ("queues:read"),
    QUEUES_WRITE("queues:write"),
    ACCESS_RULES_READ("access-rules:read"),
    ACCESS_RULES_WRITE("access-rules:write"),
    /** To submit to queues; the queue's access rule must allow it as well. */
    WORKLOADS_SUBMIT("workloads:submit"),
    WORKLOADS_READ("workloads:read"),
    /** To cancel, hold and release one's own work. */
    WORKLOADS_CANCEL("workloads:cancel"),
    WORKLOADS_HOLD("workloads:hold"),
    /** To cancel, hold and release the work of others. */
    WORKLOADS_MANAGE("workloads:manage"),
    /** To simulate work in queues that the caller may submit to, and policies that it may write. */
    SIMULATIONS_RUN("simulations:run"),
    USAGE_READ("usage:read"),
    /** To declare the label keys that usage is summed by, and its time zone. */
    USAGE_SETTINGS_WRITE("usage-settings:write"),
    AUDIT_READ("audit:read"),
    OPERATIONS_READ("operations:read"),
    /** To see the scheduler's quarantine. */
    QUARANTINE_READ("quarantine:read"),
    /** To have quarantined inputs retried or dropped. */
    QUARANTINE_WRITE("quarantine:write"),
    CELLS_READ("cells:read"),
    /** To reset the stamp of a cell. */
    CELLS_WRITE("cells:write"),
    /** To check the equations of the ledger on the stored data. */
    LEDGER_AUDIT("ledger:audit"),
    /** To read what should run on a node, and to report what does. */
    AGENTS_SYNC("agents:sync");

    private final String word;

    Permission(String word) {
        this.word = word;
    }

    public String word() {
        return word;
    }

    @Override
    public String toString() {
        return word;
    }
}
