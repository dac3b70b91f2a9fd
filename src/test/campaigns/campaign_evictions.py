"""
A preemptor waits for its nominated devices while a larger, non-preemptible workspace of its group comes: the plan that starts the first
must not evict it for the second. Afterwards nothing may be stuck.

Acme has ten GPUs, five of them reserved for each group. DevOps holds seven, one of them over-quota by its last job; R&D holds three, and
asks for one more (the preemptor). While the victim still stops, R&D asks for a workspace of three.
"""

import json
import random
import time

import checks
from api import Refused
from journal import now_ms

COMMAND = ["sh", "-c", "trap 'sleep {seconds}; exit 1' TERM; for i in $(seq 1 600); do sleep 0.5; done"]
LIVE = "state=held,waiting,starting,running,stopping,paused&pageSize=100"
# What the submissions below need of their policies. A service that does not know these fields allows it to everybody.
RIGHTS = {"maxPriority": 1000, "nonPreemptible": True}


class Round:
    def __init__(self, installation, verdict, rng, number):
        self.installation = installation
        self.verdict = verdict
        self.random = rng
        self.number = number
        self.admin = installation.client("acme", "admin")
        self.members = {name: installation.client("acme", f"{name}-member") for name in ("rnd", "devops")}
        self.ids = {}

    def pause(self, low, high):
        time.sleep(self.random.uniform(low, high))

    def submit(self, name, group, gpus, **more):
        command = [part.replace("{seconds}", str(self.random.choice([2, 3, 4, 6]))) for part in COMMAND]
        body = {"name": f"{name}-{self.number}", "queue": f"{group}-{gpus}gpu", "type": "training", "command": command, **more}
        self.ids[name] = self.members[group].require("POST", "/v1/tenants/acme/workloads", body)["id"]

    def details(self, name):
        return self.admin.get(f"/v1/tenants/acme/workloads/{self.ids[name]}")

    def play(self):
        self.submit("v4", "devops", 1)
        self.pause(0.5, 1.5)
        for name in ("v1", "v2", "v3"):
            self.submit(name, "devops", 2)
            self.pause(0.3, 1.2)
        self.submit("r", "rnd", 2, priority=200)
        self.submit("h", "rnd", 1)
        checks.await_true("the first six run", lambda: all(
            self.details(name)["workload"]["state"] == "running" for name in ("v1", "v2", "v3", "v4", "r", "h")),
            self.verdict, 600, every=0.3)
        self.pause(0.2, 3)
        self.submit("preemptor", "rnd", 1)
        self.pause(0.1, 2.0)
        self.submit("workspace", "rnd", 3, type="workspace")

    def happened(self):
        """Whether the victim was still stopping for the preemptor when the workspace came: else the round tried nothing."""
        preemptor, workspace = self.details("preemptor")["workload"], self.details("workspace")["workload"]
        came = checks.to_ms(workspace["submittedAt"])
        if "startedAt" in preemptor and checks.to_ms(preemptor["startedAt"]) <= came:
            return False
        for name in ("v1", "v2", "v3", "v4"):
            details = self.details(name)
            for told in details["preemptions"]:
                if told.get("forWorkload") == preemptor["id"] and checks.to_ms(told["at"]) < came:
                    ends = [each["endedAt"] for each in details["attempts"] if "endedAt" in each]
                    if not ends or checks.to_ms(ends[0]) > came:
                        return True
        return False

    def await_rest(self):
        """Waits until nothing starts or stops any more; an attempt that stops is over soon after its deadline."""
        end = time.monotonic() + 600
        quiet = 0
        while quiet < 3 and time.monotonic() < end:
            time.sleep(2)
            live = list(self.admin.pages(f"/v1/tenants/acme/workloads?{LIVE}"))
            moving = [each["name"] for each in live if each["state"] in ("starting", "stopping")]
            quiet = 0 if moving else quiet + 1
        self.verdict.check(quiet == 3, f"round {self.number}: after 600 s still neither running nor waiting: {self.shown()}")

    def shown(self):
        return {name: (d["workload"]["state"], d["workload"].get("reason"), [
            (a["state"], a.get("outcome"), a.get("deadline")) for a in d["attempts"]])
            for name, d in ((name, self.details(name)) for name in self.ids)}

    def clear(self):
        live = list(self.admin.pages(f"/v1/tenants/acme/workloads?{LIVE}"))
        for each in live:
            self.admin.call("POST", f"/v1/tenants/acme/workloads/{each['id']}/cancel")
        checks.settle(self.installation, self.verdict)

    def check_nothing_stuck(self, operator):
        for name in self.ids:
            for attempt in self.details(name)["attempts"]:
                late = "endedAt" not in attempt and "deadline" in attempt and now_ms() - checks.to_ms(attempt["deadline"]) > 60_000
                self.verdict.check(not late, f"round {self.number}: {name} is past its stop deadline: {attempt}")
        entries = operator.get("/v1/operator/quarantine-entries").get("items", [])
        self.verdict.check(not entries, f"round {self.number}: set aside: {json.dumps(entries)[:500]}")
        for metric in ("quartermaster_attempts_stop_overdue", "quartermaster_dispatch_failed_cycles"):
            value = self.installation.metric(metric)
            self.verdict.check(value == 0, f"round {self.number}: {metric} is {value}")


def grant_rights(installation):
    """Lets both groups state a priority and submit non-preemptible work, where policies can say so."""
    admin = installation.client("acme", "admin")
    for policy in ("rnd", "devops"):
        path = f"/v1/tenants/acme/policies/{policy}"
        try:
            admin.require("PATCH", path, RIGHTS, admin.get(path)["version"])
            installation.journal.say(f"policy {policy} grants {RIGHTS}")
        except Refused as unknown:
            if unknown.answer.status != 400:
                raise
            installation.journal.say(f"policies of this service have no {', '.join(RIGHTS)}")


def run(installation, verdict, options):
    rng = random.Random(options.seed)
    installation.start()
    installation.await_ready()
    grant_rights(installation)
    operator = installation.client("operator", "operator")
    counted = played = 0
    while counted < options.times and played < 3 * options.times:
        played += 1
        round_ = Round(installation, verdict, rng, played)
        round_.clear()
        round_.play()
        round_.await_rest()
        happened = round_.happened()
        counted += happened
        round_.check_nothing_stuck(operator)
        shown = {name: state for name, (state, *_) in round_.shown().items()}
        installation.journal.say(f"round {played}, {counted} of {options.times} counted: {'counts' if happened else 'does not count'}; {shown}")
        round_.clear()
        if played % 5 == 0:
            audit(installation, verdict)
    audit(installation, verdict)
    verdict.check(counted >= options.times, f"only {counted} of {played} rounds counted")
    return f"{played} rounds, {counted} counted"


def audit(installation, verdict):
    found = installation.command("audit")
    verdict.check(found.returncode == 0, f"qm audit ended with {found.returncode}: {found.stdout[-600:]}")
