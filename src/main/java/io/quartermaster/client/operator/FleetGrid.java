package io.quartermaster.client.operator;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.output.TextStyle;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/** Nodes as lines with a sign for each GPU, and a legend of the signs. */
final class FleetGrid {

    private static final int LETTERS = 26;
    private static final String GAP = "  ";
    private static final String FREE = ".";
    private static final String ILL = "#";
    private static final String SEVERAL = "*";
    private static final String FURTHER = "+";

    private final List<JsonNode> nodes;
    private final TextStyle style;
    private final Map<String, String> signs = new LinkedHashMap<>();

    FleetGrid(List<JsonNode> nodes, TextStyle style) {
        this.nodes = nodes;
        this.style = style;
        TreeSet<String> tenants = new TreeSet<>();
        nodes.forEach(node -> node.path("gpus").forEach(gpu -> tenants.addAll(holders(gpu))));
        for (String tenant : tenants) {
            signs.put(tenant, signs.size() < LETTERS ? String.valueOf((char) ('A' + signs.size())) : FURTHER);
        }
    }

    List<String> lines() {
        int name = width("NODE", "node");
        int pool = width("POOL", "pool");
        List<String> lines = new ArrayList<>();
        lines.add(style.faint(
                padded("NODE", name) + GAP + padded("POOL", pool) + GAP + padded("STATE", 6) + GAP + "GPUS"));
        long free = 0;
        long all = 0;
        for (JsonNode node : nodes) {
            List<String> cells = new ArrayList<>();
            for (JsonNode gpu : node.path("gpus")) {
                String sign = sign(gpu);
                cells.add(coloured(sign));
                all++;
                free += sign.equals(FREE) && isOpen(node) ? 1 : 0;
            }
            lines.add(padded(text(node, "node"), name)
                    + GAP
                    + padded(text(node, "pool"), pool)
                    + GAP
                    + padded(state(node), 6)
                    + GAP
                    + String.join(" ", cells));
        }
        lines.add("");
        lines.add(legend());
        lines.add(all + " GPUs, of which " + free + (free == 1 ? " takes" : " take") + " new work now.");
        return lines;
    }

    private static boolean isOpen(JsonNode node) {
        return node.path("up").asBoolean() && node.path("schedulable").asBoolean();
    }

    private static String state(JsonNode node) {
        if (!node.path("up").asBoolean()) {
            return "down";
        }
        return node.path("schedulable").asBoolean() ? "up" : "closed";
    }

    /** The letter of the tenant that holds the GPU; a small one if a part of the GPU is free. */
    private String sign(JsonNode gpu) {
        if (!gpu.path("healthy").asBoolean()) {
            return ILL;
        }
        TreeSet<String> holders = holders(gpu);
        if (holders.isEmpty()) {
            return FREE;
        }
        if (holders.size() > 1) {
            return SEVERAL;
        }
        String letter = signs.getOrDefault(holders.first(), FURTHER);
        boolean whole = new BigDecimal(gpu.path("free").asText("0")).signum() == 0;
        return whole ? letter : letter.toLowerCase(Locale.ROOT);
    }

    private static TreeSet<String> holders(JsonNode gpu) {
        TreeSet<String> tenants = new TreeSet<>();
        gpu.path("holders").forEach(holder -> tenants.add(holder.path("tenant").asText()));
        return tenants;
    }

    private String coloured(String sign) {
        char first = Character.toUpperCase(sign.charAt(0));
        if (sign.equals(FREE)) {
            return style.faint(sign);
        }
        return Character.isLetter(first) ? style.distinct(first - 'A', sign) : style.bold(sign);
    }

    /** Every sign that the grid can have; tenants beyond the letters share one. */
    private String legend() {
        List<String> parts = new ArrayList<>();
        List<String> further = new ArrayList<>();
        signs.forEach((tenant, sign) -> {
            if (sign.equals(FURTHER)) {
                further.add(TextStyle.printable(tenant));
            } else {
                parts.add(coloured(sign) + " " + TextStyle.printable(tenant));
            }
        });
        if (!further.isEmpty()) {
            parts.add(FURTHER + " one of " + String.join(", ", further));
        }
        parts.add(FREE + " free");
        parts.add(SEVERAL + " several tenants");
        parts.add(ILL + " not healthy");
        return String.join(GAP, parts);
    }

    private int width(String header, String field) {
        return nodes.stream().mapToInt(node -> text(node, field).length()).reduce(header.length(), Math::max);
    }

    private static String text(JsonNode node, String field) {
        return TextStyle.printable(node.path(field).asText());
    }

    private static String padded(String text, int width) {
        return text + " ".repeat(Math.max(0, width - text.length()));
    }
}
