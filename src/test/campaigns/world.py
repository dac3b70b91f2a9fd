"""What the campaigns that put the service under load work with: the demonstration's tenants, and nodes of the campaign's own."""

import random
import threading
import time

import checks
from api import Refused
from load import Member, PolicyEditor, Records, stop

RESERVED = {"acme": 10_000, "globex": 4_000}
POLICIES = {("acme", "rnd"): "8", ("acme", "devops"): "9", ("globex", "rnd"): "8"}
PROFILES = {"acme": ["1gpu", "2gpu", "3gpu", "half"], "globex": ["1gpu", "2gpu", "half"]}


def change(client, path, patch):
    """A merge patch of what is there, at its version; read anew when that changed, also by a try whose answer was lost."""
    while True:
        answer = client.call("PATCH", path, patch, client.get(path)["version"])
        if answer.ok:
            return
        if answer.status != 412:
            raise Refused("PATCH", path, answer)


class World:
    """A started installation with an own node beside the demonstration's, and the load on it."""

    def __init__(self, installation, records, verdict, seed, server=None):
        self.installation = installation
        self.records = records
        self.verdict = verdict
        self.random = random.Random(seed)
        self.operator = installation.client("operator", "operator", server)
        self.threads = []

    @classmethod
    def start(cls, installation, verdict, seed, own_gpus=8, server=None):
        journal = installation.journal
        installation.start()
        installation.await_ready()
        world = cls(installation, Records(journal), verdict, seed, server)
        world.prepare(own_gpus, server)
        return world

    def prepare(self, own_gpus, server):
        operator = self.operator
        if own_gpus:
            self.installation.add_agent(operator, "campaign-1", own_gpus, server)
            self.await_nodes()
        change(operator, "/v1/operator/tenants/globex/allotments/demo", {"reserved": "4", "limit": "10"})
        for tenant, profiles in PROFILES.items():
            admin = self.installation.client(tenant, "admin")
            half = {"name": "half", "gpus": "0.5", "pools": ["demo"]}
            admin.require("POST", f"/v1/tenants/{tenant}/profiles", half)
            for (of, policy), limit in POLICIES.items():
                if of == tenant:
                    quota = {"limit": limit, **({"reserved": "2"} if tenant == "globex" else {})}
                    patch = {"profiles": profiles, "quotas": {"demo": quota}}
                    change(admin, f"/v1/tenants/{tenant}/policies/{policy}", patch)
        self.installation.journal.say("the world is ready: two tenants, " + ", ".join(
            f"{node['name']} with {len(node['gpus'])} GPUs" for node in self.nodes()))

    def nodes(self):
        return self.operator.get("/v1/operator/nodes?pageSize=100")["items"]

    def await_nodes(self):
        checks.await_true("all nodes are up", lambda: all(n["contact"] == "up" for n in self.nodes()), self.verdict, 600)

    def cordon(self, node):
        change(self.operator, f"/v1/operator/nodes/{node}", {"schedulable": False})

    def begin_load(self, pause=(1.5, 4.0), steps=(2, 24), url=None):
        """Three members and three editors of policies. Returns at once."""
        for (tenant, policy), limit in POLICIES.items():
            member = self.installation.client(tenant, f"{policy}-member", url)
            queues = [f"{policy}-{profile}" for profile in PROFILES[tenant]]
            seed = self.random.random()
            self.threads.append(Member(member, queues, self.records, self.verdict, seed, pause, steps))
            admin = self.installation.client(tenant, "admin", url)
            limits = [int(limit) - 1, limit, int(limit) + 1]
            self.threads.append(PolicyEditor(admin, policy, limits, self.records, self.verdict, (6, 14), seed))
        for thread in self.threads:
            thread.start()

    def end_load(self):
        stop(self.threads)
        self.threads = []

    def verify(self):
        """To be called without load. Waits for what is left, and compares."""
        self.await_nodes()
        if checks.settle(self.installation, self.verdict):
            checks.verify(self.installation, self.records, self.verdict, RESERVED)


class Watcher(threading.Thread):
    """Asks the same thing again and again; counts the answers, how long they took, and what was no good answer."""

    def __init__(self, name, ask, every, verdict):
        super().__init__(name=name, daemon=True)
        self._ask = ask
        self._every = every
        self._verdict = verdict
        self.stopping = threading.Event()
        self.seconds = []

    def run(self):
        while not self.stopping.wait(self._every):
            begun = time.monotonic()
            try:
                problem = self._ask()
            except Exception as e:  # no answer is what this looks for
                problem = repr(e)
            self.seconds.append(time.monotonic() - begun)
            if problem:
                self._verdict.fail(f"{self.name}: {problem}")
