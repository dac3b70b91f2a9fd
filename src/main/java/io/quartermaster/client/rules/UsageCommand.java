package io.quartermaster.client.rules;

import com.fasterxml.jackson.databind.JsonNode;
import io.quartermaster.client.commands.ClientEnvironment;
import io.quartermaster.client.commands.PersonCommand;
import io.quartermaster.client.connection.ServiceConnection;
import io.quartermaster.client.output.CommandFailure;
import io.quartermaster.client.output.ExitStatus;
import io.quartermaster.client.output.TextTable;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code qm usage}: sums the usage of a tenant. */
@Command(
        name = "usage",
        description = {
            "Sums the GPU-hours of the tenant, by default by group and of this month.",
            "RESERVED and ON DEMAND add up to HELD. IDLE is reserved by the tenant and held by no job. A month is that "
                    + "of the tenant's time zone."
        },
        footer = {
            "%nExamples:%n",
            "  qm usage --by group --month 2026-11",
            "  qm usage --by user,queue --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z",
            "  qm usage --by label --label project --granularity week"
        })
final class UsageCommand extends PersonCommand {

    private static final int DECIMALS = 2;
    private static final Map<String, String> PERIODS =
            Map.of("hour", "hour", "day", "periodStart", "week", "periodStart", "month", "periodStart");

    @Option(
            names = "--by",
            paramLabel = "PROPERTY",
            split = ",",
            defaultValue = "group",
            description =
                    "What to sum by, separated by commas: pool, class, standing, phase, preemptible, group, policy, "
                            + "profile, queue, workload, user, cluster, label. Default: ${DEFAULT-VALUE}")
    private List<String> properties = new ArrayList<>();

    @Option(names = "--month", paramLabel = "YYYY-MM", description = "One month, such as 2026-11")
    private @Nullable String month;

    @Option(names = "--from", paramLabel = "MOMENT", description = "Begin of the window, such as 2026-11-01T00:00:00Z")
    private @Nullable String from;

    @Option(names = "--to", paramLabel = "MOMENT", description = "End of the window, which is not part of it")
    private @Nullable String to;

    @Option(names = "--granularity", paramLabel = "STEP", description = "hour, day, week or month. Default: one sum")
    private @Nullable String granularity;

    @Option(
            names = "--time-zone",
            paramLabel = "ZONE",
            description = "Time zone of days, weeks and months. Default: the tenant's")
    private @Nullable String timeZone;

    @Option(names = "--label", paramLabel = "KEY", description = "Key of the label of --by label")
    private @Nullable String label;

    @Option(names = "--label-value", paramLabel = "VALUE", description = "Only jobs whose label has this value")
    private @Nullable String labelValue;

    UsageCommand(ClientEnvironment environment) {
        super(environment);
    }

    @Override
    protected ExitStatus run() {
        if (month != null && (from != null || to != null)) {
            throw CommandFailure.usage("give --month, or --from and --to, not both");
        }
        ServiceConnection service = service();
        Map<String, String> query = new LinkedHashMap<>();
        query.put("groupBy", String.join(",", properties));
        put(query, "granularity", granularity);
        put(query, "timeZone", timeZone);
        put(query, "label", label);
        put(query, "labelValue", labelValue);
        put(query, "from", from);
        put(query, "to", to);
        if (month != null) {
            YearMonth chosen = month(month);
            ZoneId zone = zone(service);
            query.put("from", start(chosen, zone).toString());
            query.put("to", start(chosen.plusMonths(1), zone).toString());
        }
        JsonNode usage = service.get(service.path("usage"), query);
        print(usage, names(usage), () -> printTable(usage));
        return ExitStatus.OK;
    }

    private static void put(Map<String, String> query, String name, @Nullable String value) {
        if (value != null) {
            query.put(name, value);
        }
    }

    private static YearMonth month(String text) {
        try {
            return YearMonth.parse(text);
        } catch (DateTimeException e) {
            throw CommandFailure.usage("--month: \"" + text + "\" is not a month; accepted: a month such as 2026-11");
        }
    }

    private ZoneId zone(ServiceConnection service) {
        String name = timeZone != null
                ? timeZone
                : service.get(service.path("usage-settings")).path("timeZone").asText("UTC");
        try {
            return ZoneId.of(name);
        } catch (DateTimeException e) {
            throw CommandFailure.usage(
                    "--time-zone: \"" + name + "\" is not a time zone; accepted: a name such as Europe/Berlin");
        }
    }

    private static Instant start(YearMonth month, ZoneId zone) {
        return month.atDay(1).atStartOfDay(zone).toInstant();
    }

    private List<String> names(JsonNode usage) {
        return usage.path("rows")
                .valueStream()
                .map(row -> String.join(" ", cells(row)))
                .toList();
    }

    private void printTable(JsonNode usage) {
        List<String> header = new ArrayList<>();
        if (granularity != null && PERIODS.containsKey(granularity)) {
            header.add(granularity.toUpperCase(Locale.ROOT));
        }
        properties.forEach(property -> header.add(property.toUpperCase(Locale.ROOT)));
        header.addAll(List.of("HELD", "RESERVED", "ON DEMAND", "OVER-QUOTA", "IDLE"));
        TextTable table = new TextTable(style(), header.toArray(String[]::new));
        for (JsonNode row : usage.path("rows")) {
            List<String> cells = new ArrayList<>(cells(row));
            cells.addAll(sums(row.path("totals")));
            table.add(cells.toArray(String[]::new));
        }
        List<String> totals = new ArrayList<>();
        for (int i = 0; i < header.size() - 5; i++) {
            totals.add(i == 0 ? "total" : " ");
        }
        totals.addAll(sums(usage.path("totals")));
        table.add(totals.toArray(String[]::new));
        printTable(table);
        remark("GPU-hours from " + moment(usage, "from") + " to " + moment(usage, "to")
                + (usage.path("complete").asBoolean()
                        ? "; all hours are closed."
                        : "; counted until " + moment(usage, "asOf") + ", open hours may change."));
    }

    private String moment(JsonNode usage, String field) {
        return times().exactly(Instant.parse(usage.path(field).asText()));
    }

    /** The properties of a row, after the begin of its period if it has one. */
    private List<String> cells(JsonNode row) {
        List<String> cells = new ArrayList<>();
        if (granularity != null && PERIODS.containsKey(granularity)) {
            cells.add(row.path(PERIODS.getOrDefault(granularity, "")).asText());
        }
        for (String property : properties) {
            cells.add(
                    switch (property) {
                        case "policy" ->
                            row.path("policyName").asText(row.path("policy").asText());
                        case "label" ->
                            row.path("labelValue").asText(row.path("labelState").asText());
                        default -> row.path(property).asText();
                    });
        }
        return cells;
    }

    private static List<String> sums(JsonNode totals) {
        List<String> sums = new ArrayList<>();
        for (String sum : List.of("held", "reserved", "onDemand", "overQuota", "reservedIdle")) {
            sums.add(new BigDecimal(totals.path(sum).path("gpuHours").asText("0"))
                    .setScale(DECIMALS, RoundingMode.HALF_UP)
                    .toPlainString());
        }
        return sums;
    }
}
