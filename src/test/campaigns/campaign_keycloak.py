"""Keycloak stands still (SIGSTOP) for a while, as a hang does: its connections stay open, and nothing is answered."""

import threading
import time

import checks
from installation import CONTINUE, STOP
from journal import now_ms, spread
from world import Watcher, World

# Bounds of a request while Keycloak hangs: any answer within this is one; the service's own limits are shorter.
PATIENCE = 60


class Outage:
    """One stop: everybody goes on with the tokens they have, and what they ask is answered."""

    def __init__(self, world, number):
        self.world = world
        self.number = number
        installation, verdict = world.installation, world.verdict
        self.admin = installation.client("acme", "admin")
        self.member = installation.client("acme", "rnd-member")
        self.operator = installation.client("operator", "operator")
        for client in (self.admin, self.member, self.operator):
            client.renew()
        self.edits = 0
        self.accepted = 0
        self.watchers = {
            "live": Watcher("GET /health/live", lambda: self.health("live"), 1, verdict),
            "ready": Watcher("GET /health/ready", lambda: self.health("ready"), 2, verdict),
            "reads": Watcher("GET workloads", self.read, 1, verdict),
            "submissions": Watcher("POST workloads", self.submit, 2.5, verdict),
            "policy edits": Watcher("PATCH policy", self.edit, 4, verdict),
            "nodes": Watcher("GET nodes", self.look_at_nodes, 3, verdict),
        }

    def health(self, what):
        answer = self.world.installation.health(what)
        return None if answer.ok else f"{answer.status} {answer.text()[:300]}"

    def once(self, client, method, path, body=None, version=None, key=None):
        return client.once(method, path, body, version, key, PATIENCE, client.kept_token())

    def read(self):
        answer = self.once(self.member, "GET", "/v1/tenants/acme/workloads?pageSize=20")
        return None if answer.ok else f"{answer.status} {answer.text()[:200]}"

    def submit(self):
        made = self.world.records.new("acme", "rnd-1gpu", 1000, 4)
        answer = self.once(self.member, "POST", "/v1/tenants/acme/workloads", made.body(), key=made.key)
        if not answer.ok:
            return f"{answer.status} {answer.text()[:200]}"
        made.id = answer.json()["id"]
        made.acknowledged_at = now_ms()
        self.accepted += 1
        return None

    def edit(self):
        path = "/v1/tenants/acme/policies/rnd"
        read = self.once(self.admin, "GET", path)
        if not read.ok:
            return f"{read.status} {read.text()[:200]}"
        limit = "8" if self.edits % 2 else "9"
        answer = self.once(self.admin, "PATCH", path, {"quotas": {"demo": {"limit": limit}}}, read.json()["version"])
        if not answer.ok:
            return f"{answer.status} {answer.text()[:200]}"
        self.edits += 1
        self.world.records.count("policy_edits")
        self.world.records.policies[("acme", "rnd")] = limit
        return None

    def look_at_nodes(self):
        answer = self.once(self.operator, "GET", "/v1/operator/nodes?pageSize=100")
        if not answer.ok:
            return f"{answer.status} {answer.text()[:200]}"
        lost = [node["name"] for node in answer.json()["items"] if node["contact"] != "up"]
        return f"nodes lost: {lost}" if lost else None

    def run(self, seconds):
        installation, verdict = self.world.installation, self.world.verdict
        verdict.check(installation.signal_part("keycloak", STOP), "there is no Keycloak to stop")
        try:
            for watcher in self.watchers.values():
                watcher.start()
            time.sleep(seconds)
        finally:
            installation.signal_part("keycloak", CONTINUE)
        # What was asked at the end of the outage is answered, too, and so is what is asked just after it: then things locked up once.
        time.sleep(self.world.random.uniform(8, 20))
        for watcher in self.watchers.values():
            watcher.stopping.set()
        for watcher in self.watchers.values():
            watcher.join(PATIENCE + 60)
            verdict.check(not watcher.is_alive(), f"{watcher.name} hangs")
        begun = time.monotonic()
        self.member.renew()
        installation.journal.say(
            f"outage {self.number}: {self.accepted} submissions, {self.edits} policy edits; "
            + "; ".join(f"{name} {spread(watcher.seconds)}" for name, watcher in self.watchers.items())
            + f"; a login works {time.monotonic() - begun:.1f} s later")


def run(installation, verdict, options):
    world = World.start(installation, verdict, options.seed)
    seconds = options.seconds or 100
    totals = {}
    for number in range(1, options.times + 1):
        outage = Outage(world, number)
        outage.run(seconds)
        for name, watcher in outage.watchers.items():
            totals.setdefault(name, []).extend(watcher.seconds)
        time.sleep(world.random.uniform(3, 10))
    world.verify()
    check_nothing_lost(world)
    return f"{options.times} outages of {seconds:.0f} s; answered: " + "; ".join(
        f"{name} {spread(values)}" for name, values in totals.items())


def check_nothing_lost(world, but=frozenset()):
    """No attempt was lost with its node, and the metric says that no node was given up."""
    books = checks.Books(world.installation, world.operator, world.records.prefix)
    lost = [attempt for attempt, (_, _, told) in books.attempts.items() if told.get("outcome") == "lost"]
    world.verdict.check(not set(lost) - but, f"attempts were lost with their node: {lost[:10]}")


def run_long(installation, verdict, options):
    """Beyond the life of every token: work that waits goes on being started, what runs goes on, a restarted agent is taken back."""
    seconds = options.seconds or 900
    world = World.start(installation, verdict, options.seed)
    member = installation.client("acme", "rnd-member")
    steps = int(2 * (seconds + 120))
    whole = [submit(world, member, "rnd-1gpu", steps) for _ in range(2)]
    # What can run beside the two long ones, for longer than the outage, in pieces of 40 s.
    waiting = [submit(world, member, "rnd-2gpu", 80) for _ in range(int(3 * (seconds / 40 + 5)))]
    checks.await_true("the two long ones run", lambda: all(
        member.get(f"/v1/tenants/acme/workloads/{each.id}")["workload"]["state"] == "running" for each in whole), verdict, 600)
    live = Watcher("GET /health/live", lambda: None if installation.health("live").ok else "not alive", 2, verdict)
    lag = []
    begun = now_ms()
    verdict.check(installation.signal_part("keycloak", STOP), "there is no Keycloak to stop")
    try:
        live.start()
        killer = threading.Timer(seconds / 3, lambda: restart_agent(installation))
        killer.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(5)
            lag.append(installation.metric("quartermaster_agents_lag_seconds") or 0)
            lost = installation.metric("quartermaster_agents_lost")
            verdict.check(lost == 0, f"quartermaster_agents_lost is {lost} after {(now_ms() - begun) // 1000} s")
    finally:
        installation.signal_part("keycloak", CONTINUE)
    ended = now_ms()
    live.stopping.set()
    live.join(120)
    world.await_nodes()
    work = checks.Work(installation)
    starts = sorted(start[0][2] for start in work.starts.values() if begun <= start[0][2] <= ended)
    parts = [sum(begun + i * (ended - begun) // 5 <= at < begun + (i + 1) * (ended - begun) // 5 for at in starts) for i in range(5)]
    verdict.check(all(parts), f"starts in the five parts of the outage: {parts}")
    for each in whole:
        details = member.get(f"/v1/tenants/acme/workloads/{each.id}")
        verdict.check(len(details["attempts"]) == 1, f"{each.name} has {len(details['attempts'])} attempts")
    installation.journal.say(f"after the outage; starts in its five parts: {parts}")
    for each in waiting:
        each.cancel_asked = True
        member.call("POST", f"/v1/tenants/acme/workloads/{each.id}/cancel")
    world.verify()
    check_nothing_lost(world)
    return (
        f"one outage of {seconds:.0f} s, {len(starts)} starts in it, an agent killed and started again in it; "
        f"health {spread(live.seconds)}; agents' longest silence {max(lag):.1f} s")


def restart_agent(installation):
    agent = installation.agents["campaign-1"]
    agent.kill()
    time.sleep(2)
    agent.start()
    installation.journal.say("the agent of campaign-1 was killed and started again")


def submit(world, member, queue, steps):
    made = world.records.new("acme", queue, int(queue.rsplit("-", 1)[1][0]) * 1000, steps)
    made.id = member.require("POST", "/v1/tenants/acme/workloads", made.body(), key=made.key)["id"]
    made.acknowledged_at = now_ms()
    return made


