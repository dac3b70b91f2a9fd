package io.quartermaster.client;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** The tables of {@code qm share}. */
class ShareCommandTest extends CommandTest {

    private static final String SHARE = """
            {"group":"/rnd","asOf":"2026-11-30T23:00:00Z","pools":[{"pool":"h100","levels":[
            {"branch":{"group":"/","ownWork":false,"reserved":"6","overQuota":true,"weight":1,"rank":0,"used":"6",
            "demand":"6","fairShare":"6","bound":"demand"},"text":"Its fair share is 6."},
            {"branch":{"group":"/rnd","ownWork":false,"reserved":"4","limit":"5","overQuota":true,"weight":1,"rank":0,
            "used":"5","demand":"5","fairShare":"5","bound":"limit"},"divided":"6","siblings":[
            {"group":"/","ownWork":true,"reserved":"1","overQuota":true,"weight":0.5,"rank":0,"used":"0","demand":"0",
            "fairShare":"0","bound":"demand"}],"text":"Its fair share is 5, its limit."}]}]}""";

    @Test
    void eachDivisionIsATableWithItsSentence() {
        api.given("GET " + TENANT + "/share?group=%2Frnd&pool=h100", 200, SHARE);

        ClientRun.Result result = client.run("share", "/rnd", "--pool", "h100");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.out().lines().map(line -> line.strip().replaceAll(" +", " ")))
                .containsExactly(
                        "POOL GROUP RESERVED LIMIT RANK WEIGHT USED DEMAND FAIR SHARE",
                        "> h100 / 6 - 0 1 6 6 6",
                        "POOL GROUP RESERVED LIMIT RANK WEIGHT USED DEMAND FAIR SHARE",
                        "> h100 /rnd 4 5 0 1 5 5 5",
                        "h100 / (own work) 1 - 0 0.5 0 0 0");
        assertThat(result.err()).contains("Its fair share is 6.", "Its fair share is 5, its limit.");
        assertThat(json(client.run("share", "/rnd", "--pool", "h100", "-o", "json")
                        .out()))
                .isEqualTo(json(SHARE));
    }

    @Test
    void tenantWithoutAQuotaIsToldSo() {
        api.given("GET " + TENANT + "/share", 200, """
                {"group":"/","asOf":"2026-11-30T23:00:00Z","pools":[]}""");

        ClientRun.Result result = client.run("share");

        assertThat(result.exitCode()).as(result.err()).isZero();
        assertThat(result.err()).contains("No quota binds the work of / in any pool.");
    }
}
