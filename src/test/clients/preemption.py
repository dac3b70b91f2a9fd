"""A training, played by the Python client against a running service: it is preempted, continues, and ends.

Prints each step; ends with an error where the service or the client does not do what the documents say.
"""

import os
import sys
import threading
from datetime import timedelta

from quartermaster import Client, ProblemError
from quartermaster.generated.api.queues import list_queues

STEPS = 200
PATIENCE = timedelta(minutes=2)
# Slow before the preemption, which so comes in time, and fast after it.
TRAINING = '[ "$QM_ATTEMPT" != 1 ] || export STEP_SECONDS=1; exec "$0" "$1"'


class LiveView:
    """The states of the tenant's jobs, read by a thread of its own."""

    def __init__(self, client):
        self.states = []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, args=(client,), daemon=True).start()

    def read(self, client):
        for event in client.watch():
            if event.state:
                with self.changed:
                    self.states.append((str(event.workload), event.state.value))
                    self.changed.notify_all()

    def states_of(self, job, last):
        def seen():
            return (job.id, last) in self.states

        with self.changed:
            assert self.changed.wait_for(seen, timeout=PATIENCE.total_seconds()), self.states
            return [state for workload, state in self.states if workload == job.id]


def steps_of(lines):
    return [int(line.text.removeprefix("step ")) for line in lines if line.text.startswith("step ")]


def main():
    member = Client.from_environment()
    claimant = Client.with_token(os.environ["STORY_SERVER"], os.environ["STORY_TENANT"], os.environ["STORY_CLAIMANT"])
    automation = Client.with_secret(os.environ["STORY_SERVER"], os.environ["STORY_TENANT"], os.environ["STORY_SECRET"])
    view = LiveView(automation)
    queues = list_queues.sync(member.tenant, client=member.api, mine=True)
    assert [queue.name for queue in queues.items] == ["rnd-one"], queues

    training = {
        "queue": "rnd-one",
        "command": ["sh", "-c", TRAINING, sys.executable, os.environ["STORY_TRAINING"]],
        "name": "train.py",
        "env": {"STEPS": str(STEPS), "STEP_SECONDS": "0.01"},
        "max_runtime": timedelta(minutes=30),
        "idempotency_key": "story",
    }
    job = member.submit(**training)
    assert member.submit(**training).id == job.id
    assert [each.id for each in automation.jobs(name="train.py")] == [job.id]
    print("submitted once")

    lines, claim = [], None
    for line in job.logs(follow=True):
        lines.append(line)
        print("  " + line.text)
        if line.text == "step 2":
            claim = claimant.submit("devops-one", ["sleep", "1"], name="claim", max_runtime="5m")
    assert claim and claim.wait(PATIENCE, check=True) == "succeeded"
    assert job.wait(PATIENCE, check=True) == "succeeded"

    first, second = ([line for line in lines if line.attempt == number] for number in (1, 2))
    last = steps_of(first)[-1]
    assert 2 <= last < STEPS, lines
    saved = next(line.text for line in first if line.text.startswith("saved"))
    assert saved.startswith(f"saved step {last} (PREEMPTED, "), saved
    assert 30 <= int(saved.split()[-3]) <= 60, saved
    assert [preemption.attempt for preemption in job.details.preemptions] == [1], job.details
    print(f"preempted after step {last}")

    assert f"begins after step {last}" in [line.text for line in second], lines
    assert steps_of(first) + steps_of(second) == list(range(1, STEPS + 1)), lines
    assert "trained" in job.logs(), job.logs()
    assert "saved step" in job.logs(attempt=1), job.logs(attempt=1)
    print("continued to the end")

    print("watched: " + ", ".join(view.states_of(job, "succeeded")))

    held = member.submit("rnd-one", ["true"], hold=True)
    assert held.refresh().state == "held" and held.why().sentence, held
    assert held.cancel().wait(PATIENCE) == "cancelled"
    for call, code in ((lambda: member.submit("no-such-queue", ["true"]), "not-found"), (held.hold, "workload-over")):
        try:
            call()
            raise AssertionError(f"{code} is not raised")
        except ProblemError as refused:
            assert refused.code == code and refused.detail, refused
    print("refused as documented")


if __name__ == "__main__":
    main()
