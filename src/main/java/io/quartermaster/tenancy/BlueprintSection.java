package io.quartermaster.tenancy;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A part of the blueprints that belongs to a higher package, such as the initial rules of a tenant. The catalog finds
 * the beans of this type; the package's {@link ProvisioningStep} reads the part with {@link BlueprintCatalog#section}.
 */
public interface BlueprintSection {

    /** The key in a plan's file. */
    String key();

    /**
     * Checks the value when the service starts, for each plan that has the key. An exception stops the start; its
     * message names the field.
     */
    void check(JsonNode value);
}
