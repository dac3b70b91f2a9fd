package io.quartermaster.execution.agents;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.quartermaster.agent.protocol.Inventory;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The digest that names an inventory between the service and an agent. It covers every field that this version of the
 * service reads. After an upgrade that adds a field, every agent sends its inventory once more.
 */
final class InventoryDigest {

    private static final ObjectMapper JSON = JsonMapper.builder().build();

    private InventoryDigest() {}

    static String of(Inventory inventory) {
        try {
            return HexFormat.of()
                    .formatHex(MessageDigest.getInstance("SHA-256").digest(JSON.writeValueAsBytes(inventory)));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("an inventory is always JSON", e);
        }
    }
}
