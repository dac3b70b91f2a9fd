"""
Two replicas are replaced by another build, one after the other, and back again, under load, as docs/runbooks/rolling-upgrade-and-rollback.md says.

A third process of the old build keeps what is embedded and serves no load; it does not lead. So whoever leads is of the build that was just
started once both replicas are.
"""

import pathlib
import signal
import time

import checks
from balancer import Balancer
from installation import send
from journal import now_ms, spread
from load import Records
from world import World

LEADS = "quartermaster_dispatch_leads"


def run(installation, verdict, options):
    old, new = pathlib.Path(options.old).resolve(), installation.home
    installation.home = old
    installation.settings["QUARTERMASTER_DISPATCH_ENABLED"] = "false"
    installation.start()
    # The demonstration is loaded by the process that keeps the parts, and needs a leader.
    checks.await_true("the first process is up", lambda: installation.health("ready").status == 200, verdict, 600)
    replicas = [Replica(installation, name) for name in ("second", "third")]
    try:
        for replica in replicas:
            replica.start(old)
        installation.await_ready()
        for replica in replicas:
            replica.await_ready(verdict)
        port = installation.ports["balancer"]
        Balancer(port, [(replica.port, replica.management) for replica in replicas]).start()
        balanced = f"http://127.0.0.1:{port}"
        world = World(installation, Records(installation.journal), verdict, options.seed, balanced)
        world.prepare(8, balanced)
        gaps = go_to_and_fro(world, replicas, old, new, options, balanced)
        world.verify()
    finally:
        for replica in replicas:
            replica.end()
    return f"{options.times} times there and back; without a leader of either replica for {spread(gaps)} s at each of {len(gaps)} replacements"


def go_to_and_fro(world, replicas, old, new, options, balanced):
    installation, gaps = world.installation, []
    world.begin_load(pause=(1.0, 3.0), url=balanced)
    time.sleep(30)
    for _ in range(options.times):
        migrate(installation, new, world.verdict)
        for build, order in ((new, replicas), (old, replicas[::-1])):
            for replica in order:
                gaps.append(replace(world, replica, replicas, build))
                time.sleep(options.seconds or 60)
            leading = [each.build for each in replicas if installation.metric(LEADS, each.management) == 1]
            world.verdict.check(leading == [build], f"{build} should lead, and {leading} does")
    world.end_load()
    return gaps


def migrate(installation, build, verdict):
    """As the job that knows the owner; the replicas do not."""
    environment = installation.second_environment()
    environment["QM_DATABASE_OWNER_USER"] = "qm_owner"
    environment["QM_DATABASE_OWNER_PASSWORD"] = installation.secrets()["postgres.qm_owner"]
    begun = now_ms()
    code = installation.spawn("migrate", ["migrate"], environment, build).wait(300)
    verdict.check(code == 0, f"qm migrate of {build} ended with {code}")
    installation.journal.say(f"migrated under load in {(now_ms() - begun) / 1000} s")


def replace(world, replica, replicas, build):
    """Ends one replica in order and starts it from a build; how long neither led, seen twice a second."""
    installation = world.installation
    led = installation.metric(LEADS, replica.management) == 1
    since = now_ms()
    replica.end()
    others = [each for each in replicas if each is not replica]
    checks.await_true("the other replica leads", lambda: any(
        installation.metric(LEADS, each.management) == 1 for each in others), world.verdict, 120, 0.2)
    gap = (now_ms() - since) / 1000
    replica.start(build)
    took = replica.await_ready(world.verdict)
    world.verdict.check(all(node["contact"] == "up" for node in world.nodes()), "a node was lost")
    installation.journal.say(f"{replica.name} is of {build.name} now, ready after {took} s; it led before: {led}; the other led after {gap} s")
    return gap


class Replica:
    """One that the load reaches, of one build or the other."""

    def __init__(self, installation, name):
        self.name = name
        self.port = installation.ports[f"{name}-http"]
        self.management = f"http://127.0.0.1:{installation.ports[f'{name}-management']}"
        self._installation = installation
        self._process = None
        self.build = None

    def start(self, build):
        environment = self._installation.second_environment()
        environment["QM_HTTP_PORT"] = str(self.port)
        environment["QM_MANAGEMENT_PORT"] = self.management.rsplit(":", 1)[1]
        environment["QUARTERMASTER_DISPATCH_ENABLED"] = "true"
        self.build = build
        self._process = self._installation.spawn(self.name, ["up"], environment, build)

    def await_ready(self, verdict):
        return checks.await_true(f"{self.name} is ready", lambda: self._installation.health(
            "ready", management=self.management).status == 200, verdict, 600)

    def end(self):
        if self._process is not None and self._process.poll() is None:
            send(self._process.pid, signal.SIGTERM)
            self._process.wait(120)
