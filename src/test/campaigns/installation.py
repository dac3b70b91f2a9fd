"""One installation of the packaged program: the service, the parts it starts, and agents of the campaign's own."""

import http.client
import os
import pathlib
import signal
import subprocess
import time

from api import Client, request

OPERATOR_PASSWORD = "demo-operator-password"
ADMIN_PASSWORD = "demo-admin-password"
MEMBER_PASSWORD = "demo-member-password"
START_PATIENCE = 600


class Installation:
    """Started and stopped by the product's own commands, on a data folder and ports of its own."""

    PORTS = ("http", "management", "postgres", "redis", "keycloak", "second-http", "second-management", "balancer",
             "third-http", "third-management")

    def __init__(self, home, folder, first_port, journal, settings=None):
        self.home = pathlib.Path(home).resolve()
        self.folder = pathlib.Path(folder).resolve()
        self.data = self.folder / "data"
        self.journal = journal
        self.ports = {name: first_port + i for i, name in enumerate(self.PORTS)}
        self.url = f"http://127.0.0.1:{self.ports['http']}"
        self.management = f"http://127.0.0.1:{self.ports['management']}"
        self.keycloak = f"http://127.0.0.1:{self.ports['keycloak']}"
        self.settings = settings or {}
        self.service = None
        self.agents = {}
        self.folder.mkdir(parents=True, exist_ok=True)

    # -- the service

    def environment(self):
        environment = dict(os.environ)
        environment.update(self.settings)
        environment["QM_DATA_DIR"] = str(self.data)
        for name in self.PORTS[:5]:
            environment[f"QM_{name.upper()}_PORT"] = str(self.ports[name])
        return environment

    def spawn(self, name, arguments, environment=None, home=None):
        """A command of the product, of this build or another, in a session of its own; what it prints is kept."""
        with open(self.folder / f"{name}.out", "ab") as out:
            return subprocess.Popen(
                [str((home or self.home) / "qm"), *arguments],
                cwd=self.folder,
                env=environment or self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def start(self):
        self.service = self.spawn("up", ["up", "--demo-passwords", "fixed", "--unsafe-demo"])

    def is_ready(self):
        """Whether this very process says in its run file that all of it is up, the demonstration included."""
        try:
            text = (self.data / "run.properties").read_text()
        except OSError:
            return False
        return "ready=true" in text and f"process={self.service.pid}" in text.replace("\\", "")

    def await_ready(self):
        end = time.monotonic() + START_PATIENCE
        while not self.is_ready():
            if self.service.poll() is not None:
                raise RuntimeError(f"the service ended with {self.service.returncode}; see {self.folder}/up.out")
            if time.monotonic() > end:
                raise RuntimeError(f"the service is not ready after {START_PATIENCE} s")
            time.sleep(0.2)

    def down(self):
        """Ends all of it; agents of the campaign first, as their work is over by now."""
        for agent in self.agents.values():
            agent.end()
        if self.service is not None:
            down = self.spawn("down", ["down"])
            # The service is a child of this process: until it is waited for, it looks alive to whoever ends it.
            try:
                self.service.wait(180)
            except subprocess.TimeoutExpired:
                self.journal.say("the service does not end; killing it")
                self.service.kill()
                self.service.wait()
            self.journal.say(f"qm down ended with {down.wait(180)}")

    def command(self, *arguments, timeout=600):
        """Runs a command of the product to its end."""
        result = subprocess.run(
            [str(self.home / "qm"), *arguments],
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        self.journal.note("command", arguments=arguments, code=result.returncode, out=result.stdout[-4000:])
        return result

    def secrets(self):
        """What the data folder knows, by name."""
        lines = (self.data / "secrets.properties").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines if "=" in line and not line.startswith("#"))

    def second_environment(self):
        """For a replica to which everything is given from outside, with what the data folder of the first one knows."""
        secrets = self.secrets()
        environment = dict(os.environ)
        environment.update(self.settings)
        environment.update({
            "QM_HTTP_PORT": str(self.ports["second-http"]),
            "QM_MANAGEMENT_PORT": str(self.ports["second-management"]),
            "QM_DATABASE_URL": f"postgresql://127.0.0.1:{self.ports['postgres']}/quartermaster",
            "QM_DATABASE_REQUEST_USER": "qm_request",
            "QM_DATABASE_REQUEST_PASSWORD": secrets["postgres.qm_request"],
            "QM_DATABASE_SYSTEM_USER": "qm_system",
            "QM_DATABASE_SYSTEM_PASSWORD": secrets["postgres.qm_system"],
            "QM_REDIS_URL": f"redis://:{secrets['redis']}@127.0.0.1:{self.ports['redis']}",
            "QM_KEYCLOAK_URL": self.keycloak,
            "QM_KEYCLOAK_ADMIN_USER": "admin",
            "QM_KEYCLOAK_ADMIN_PASSWORD": secrets["keycloak.admin"],
            "QUARTERMASTER_TENANCY_DEMO": "true",
            "QUARTERMASTER_TENANCY_CLI_SECRET": secrets["operator.quartermaster-cli"],
        })
        return environment

    # -- its parts

    def part_pid(self, name):
        """The process of a part (postgres, redis, keycloak, agent), or None."""
        try:
            pid = int((self.data / "run" / f"{name}.pid").read_text().split()[0])
            os.kill(pid, 0)
            return pid
        except (OSError, ValueError, IndexError):
            return None

    def signal_part(self, name, number):
        """Sends a signal to a part and to all that it started; answers whether there was one."""
        pid = self.part_pid(name)
        if pid is None:
            return False
        for each in [pid, *descendants(pid)]:
            send(each, number)
        return True

    # -- people

    def client(self, realm, user, url=None):
        password = {"operator": OPERATOR_PASSWORD, "admin": ADMIN_PASSWORD}.get(user, MEMBER_PASSWORD)
        return Client(url or self.url, self.keycloak, realm, user, password, self.journal)

    # -- agents of the campaign's own

    def add_agent(self, operator, node, gpus, server=None):
        """Registers a node in the demonstration's pool, and starts its agent."""
        operator.require("POST", "/v1/operator/nodes", {"name": node, "cluster": "local", "pool": "demo"})
        credential = operator.require("POST", f"/v1/operator/nodes/{node}/credential", {})
        secret = self.folder / f"{node}.secret"
        secret.write_text(credential["clientSecret"])
        secret.chmod(0o600)
        agent = Agent(self, node, gpus, server or self.url, credential, secret)
        self.agents[node] = agent
        agent.start()
        return agent

    def records(self):
        """The files in which work says what it does, each with the folder of its agent."""
        for agent in [self.data / "agent", *(each.state for each in self.agents.values())]:
            for root, _, files in os.walk(agent):
                if ".campaign" in files:
                    yield agent.name, pathlib.Path(root) / ".campaign"

    # -- what it says without a token

    def health(self, what="live", timeout=30, management=None):
        return request(f"{management or self.management}/health/{what}", timeout=timeout)

    def metric(self, name, management=None):
        """The largest sample of a metric, or None."""
        try:
            lines = request(f"{management or self.management}/metrics", timeout=20).text().splitlines()
        except (OSError, http.client.HTTPException):
            return None
        values = [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((name + " ", name + "{"))]
        return max(values, default=None)


class Agent:
    """A node's agent with simulated GPUs, kept by the campaign as a service manager would."""

    def __init__(self, installation, node, gpus, server, credential, secret):
        self.installation = installation
        self.node = node
        self.state = installation.folder / f"state-{node}"
        self._arguments = [
            "agent", "--server", server, "--node", node, "--token-url", credential["tokenUrl"],
            "--client-id", credential["clientId"], "--client-secret-file", str(secret),
            "--state-dir", str(self.state), "--simulated-gpus", str(gpus), "--isolation", "none", "--trust-tenants",
        ]
        self.process = None

    def start(self):
        self.process = self.installation.spawn(self.node, self._arguments)

    def kill(self):
        """As a crash; its work goes on."""
        self.process.kill()
        self.process.wait()

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()


def descendants(pid):
    """All processes below one."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = pathlib.Path("/proc", entry, "stat").read_text()
                parents.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
            except (OSError, IndexError, ValueError):
                continue
    found, queue = [], [pid]
    while queue:
        children = parents.get(queue.pop(), [])
        found += children
        queue += children
    return found


def send(pid, number):
    try:
        os.kill(pid, number)
        return True
    except ProcessLookupError:
        return False


STOP, CONTINUE, KILL, INTERRUPT = signal.SIGSTOP, signal.SIGCONT, signal.SIGKILL, signal.SIGINT
