package io.quartermaster.tenancy;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * A part of the blueprints that belongs to a package above, such as the rules a tenant begins with. Beans of this type are found by
 * themselves; the package's {@link ProvisioningStep} reads it with {@link BlueprintCatalog#section}.
 */
public interface BlueprintSection {

    /** The key in a plan's file. */
    String key();

    /** Called when the service starts, for each plan that has the key. What it throws stops the start; the message names the field. */
    void check(JsonNode value);
}
