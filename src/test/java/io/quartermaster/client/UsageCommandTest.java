package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The window of {@code qm usage} and its table. */
class UsageCommandTest extends CommandTest {

    private static final String USAGE = """
            {"tenant":"acme","from":"2026-10-31T23:00:00Z","to":"2026-11-30T23:00:00Z","asOf":"2026-11-30T23:00:00Z",
            "complete":true,"granularity":"total","groupBy":["group"],"rows":[
            {"group":"/vision","totals":{"held":{"gpuHours":"12.345"},"reserved":{"gpuHours":"10"},
            "onDemand":{"gpuHours":"2.345"},"overQuota":{"gpuHours":"0"},"reservedIdle":{"gpuHours":"0"}}},
            {"totals":{"held":{"gpuHours":"0"},"reservedIdle":{"gpuHours":"7"}}}],
            "totals":{"held":{"gpuHours":"12.345"},"reserved":{"gpuHours":"10"},"onDemand":{"gpuHours":"2.345"},
            "reservedIdle":{"gpuHours":"7"}}}""";

    @Test
    void aMonthIsThatOfTheTenantsTimeZone() {
        api.given("GET " + TENANT + "/usage-settings", 200, "{\"timeZone\":\"Europe/Berlin\"}");
        api.given(
                "GET " + TENANT + "/usage?from=2026-10-31T23%3A00%3A00Z&groupBy=group&to=2026-11-30T23%3A00%3A00Z",
                200,
                USAGE);

        ClientRun.Result result = client.run("usage", "--by", "group", "--month", "2026-11");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).isEqualTo("""
                GROUP    HELD   RESERVED  ON DEMAND  OVER-QUOTA  IDLE
                /vision  12.35  10.00     2.35       0.00        0.00
                -        0.00   0.00      0.00       0.00        7.00
                total    12.35  10.00     2.35       0.00        7.00
                """);
        assertThat(result.err()).contains("all hours are closed");
        assertThat(json(client.run("usage", "--month", "2026-11", "-o", "json").out()))
                .isEqualTo(json(USAGE));
    }

    @Test
    void optionsAreParametersOfTheRequest() {
        api.given(
                "GET " + TENANT
                        + "/usage?from=2026-11-01T00%3A00%3A00Z&granularity=day&groupBy=user%2Clabel&label=project"
                        + "&labelValue=x&timeZone=UTC&to=2026-11-02T00%3A00%3A00Z",
                200,
                """
                {"from":"2026-11-01T00:00:00Z","to":"2026-11-02T00:00:00Z","asOf":"2026-11-02T00:00:00Z","rows":[
                {"periodStart":"2026-11-01T00:00:00Z","user":"jo","labelState":"unset","totals":{}}],"totals":{}}""");

        ClientRun.Result result =
                client.run("usage --by user,label --granularity day --time-zone UTC --label project --label-value x"
                        .concat(" --from 2026-11-01T00:00:00Z --to 2026-11-02T00:00:00Z")
                        .split(" "));

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out()).contains("DAY ", "2026-11-01T00:00:00Z  jo    unset  0.00");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "usage --month 2026-13",
                "usage --month november",
                "usage --month 2026-11 --from 2026-11-01T00:00:00Z",
                "usage --month 2026-11 --time-zone Mars/Olympus"
            })
    void aWrongWindowIsRefused(String arguments) {
        assertThat(client.run(arguments.split(" ")).exitCode()).isEqualTo(2);
        assertThat(api.requests()).isEmpty();
    }
}
