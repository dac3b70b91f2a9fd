"""Work that says what it does, and members that submit, cancel and repeat requests. Keeps what was acknowledged."""

import random
import threading
import uuid

from api import NoAnswer
from journal import now_ms

# Says on its node when each attempt starts, when it is told to stop and when it ends; each line is one write. A sign of life every half
# second goes into a file of the attempt, so that work that was killed has a last one.
PROGRAM = r"""
record="$QM_CHECKPOINT_DIR/.campaign"
say() { echo "$1 $QM_ATTEMPT_ID $QM_WORKLOAD $(date +%s%3N) $QM_GPUS ${CUDA_VISIBLE_DEVICES:--}" >> "$record"; }
say start
trap 'say told; exit 1' TERM
i=0
while [ "$i" -lt "$STEPS" ]; do
  i=$((i+1)); date +%s%3N > "$QM_CHECKPOINT_DIR/.life-$QM_ATTEMPT_ID"; sleep 0.5
done
say end
"""


# Some faults in a row may take this long together.
PATIENCE = 900


class Submission:
    """One workload that somebody asked for; acknowledged when the service said so."""

    def __init__(self, tenant, name, queue, gpu_milli, steps, key):
        self.tenant = tenant
        self.name = name
        self.queue = queue
        self.gpu_milli = gpu_milli
        self.steps = steps
        self.key = key
        self.id = None
        self.acknowledged_at = None
        self.cancel_asked = False

    def body(self):
        return {
            "name": self.name,
            "queue": self.queue,
            "type": "training",
            "command": ["sh", "-c", PROGRAM],
            "environment": {"STEPS": str(self.steps)},
        }


class Records:
    """All that the campaign knows by itself."""

    def __init__(self, journal):
        self.journal = journal
        self.prefix = "c" + uuid.uuid4().hex[:6]
        self._lock = threading.Lock()
        self._number = 0
        self.submissions = []
        self.replays = 0
        self.cancels = 0
        self.policy_edits = 0
        self.policies = {}

    def new(self, tenant, queue, gpu_milli, steps):
        with self._lock:
            self._number += 1
            made = Submission(tenant, f"{self.prefix}-{self._number}", queue, gpu_milli, steps, str(uuid.uuid4()))
            self.submissions.append(made)
            return made

    def acknowledged(self):
        with self._lock:
            return [each for each in self.submissions if each.acknowledged_at is not None]

    def count(self, what):
        with self._lock:
            setattr(self, what, getattr(self, what) + 1)

    def last_acknowledged_ms(self):
        return max((each.acknowledged_at for each in self.acknowledged()), default=0)


class Member(threading.Thread):
    """Submits to its queues at random moments; cancels some of what it has, and repeats some of its requests."""

    SIZES = {"half": 500, "1gpu": 1000, "2gpu": 2000, "3gpu": 3000}

    def __init__(self, client, queues, records, verdict, seed, pause=(1.0, 3.0), steps=(2, 24)):
        super().__init__(name=f"{client.user}@{client.realm}", daemon=True)
        self._client = client
        self._queues = queues
        self._records = records
        self._verdict = verdict
        self._random = random.Random(seed)
        self._pause = pause
        self._steps = steps
        self._own = []
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            try:
                self._act()
            except NoAnswer as e:
                self._verdict.fail(f"no answer for {self.name}: {e}")
            except Exception as e:  # the campaign must see it, whatever it is
                self._verdict.fail(f"{self.name}: {e!r}")
            self.stopping.wait(self._random.uniform(*self._pause))

    def _act(self):
        chance = self._random.random()
        known = [each for each in self._own if each.acknowledged_at is not None]
        if known and chance < 0.10:
            self._cancel(self._random.choice(known[-8:]))
        elif known and chance < 0.17:
            self._replay(self._random.choice(known[-8:]))
        else:
            queue = self._random.choice(self._queues)
            size = self.SIZES[queue.rsplit("-", 1)[1]]
            made = self._records.new(self._client.realm, queue, size, self._random.randint(*self._steps))
            self._own.append(made)
            self.submit(made)

    def _path(self):
        return f"/v1/tenants/{self._client.realm}/workloads"

    def submit(self, made):
        answer = self._client.call("POST", self._path(), made.body(), key=made.key, patience=PATIENCE)
        if answer.ok:
            made.id = answer.json()["id"]
            made.acknowledged_at = now_ms()
            self._records.journal.note("accepted", name=made.name, id=made.id, seconds=answer.seconds)
        else:
            self._verdict.fail(f"{made.name} was refused: {answer.status} {answer.text()[:300]}")

    def _cancel(self, made):
        made.cancel_asked = True
        answer = self._client.call("POST", f"{self._path()}/{made.id}/cancel", patience=PATIENCE)
        # 409: it is over already.
        self._verdict.check(answer.ok or answer.status == 409, f"cancel of {made.name}: {answer.status}")
        self._records.count("cancels")

    def _replay(self, made):
        answer = self._client.call("POST", self._path(), made.body(), key=made.key, patience=PATIENCE)
        self._records.count("replays")
        same = answer.ok and answer.json()["id"] == made.id
        self._verdict.check(same, f"a repeated key of {made.name} gave {answer.status} {answer.text()[:200]}")


class PolicyEditor(threading.Thread):
    """Changes the limit of a policy again and again, always at the version that it read."""

    def __init__(self, client, policy, limits, records, verdict, pause=(4.0, 9.0), seed=0):
        super().__init__(name=f"policy {policy} of {client.realm}", daemon=True)
        self._client = client
        self._policy = policy
        self._limits = limits
        self._records = records
        self._verdict = verdict
        self._pause = pause
        self._random = random.Random(seed)
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.wait(self._random.uniform(*self._pause)):
            try:
                self.edit()
            except NoAnswer as e:
                self._verdict.fail(f"no answer for {self.name}: {e}")
            except Exception as e:  # the campaign must see it, whatever it is
                self._verdict.fail(f"{self.name}: {e!r}")

    def edit(self):
        path = f"/v1/tenants/{self._client.realm}/policies/{self._policy}"
        version = self._client.get(path)["version"]
        limit = str(self._random.choice(self._limits))
        answer = self._client.call("PATCH", path, {"quotas": {"demo": {"limit": limit}}}, version, patience=PATIENCE)
        # 412: the answer to the try before this one was lost, but it took effect.
        if self._verdict.check(answer.ok or answer.status == 412, f"{self.name}: {answer.status} {answer.text()[:200]}"):
            self._records.count("policy_edits")
            self._records.policies[(self._client.realm, self._policy)] = limit


def stop(threads):
    for each in threads:
        each.stopping.set()
    for each in threads:
        each.join(600)

