"""One story, played by the generated Python client against a running service: submit, watch, explain, cancel, usage.

Prints each step; ends with an error where the service or the client does not do what the contract says.
"""

import os
import threading
import time
import uuid
from datetime import datetime, timezone

from quartermaster_client import ApiClient, Configuration
from quartermaster_client.api.queues_api import QueuesApi
from quartermaster_client.api.usage_api import UsageApi
from quartermaster_client.api.workloads_api import WorkloadsApi
from quartermaster_client.exceptions import BadRequestException, NotFoundException
from quartermaster_client.models.dry_run import DryRun
from quartermaster_client.models.problem import Problem
from quartermaster_client.models.submission import Submission
from quartermaster_client.models.usage_group_by import UsageGroupBy
from quartermaster_client.models.wait_reason_code import WaitReasonCode
from quartermaster_client.models.workload_event import WorkloadEvent
from quartermaster_client.models.workload_state import WorkloadState
from quartermaster_client.models.workload_type import WorkloadType

TENANT = os.environ["STORY_TENANT"]
STRANGER = os.environ["STORY_STRANGER"]
QUEUE = os.environ["STORY_QUEUE"]
RUN = uuid.uuid4().hex
FIRST, SECOND = "first-" + RUN, "second-" + RUN
PATIENCE_SECONDS = 90


class LiveView:
    """The events of the tenant's workloads, read from the stream by a thread of its own."""

    def __init__(self, response):
        self.response = response
        self.events = []
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.response:
            text = line.decode()
            if text.startswith("data:"):
                event = WorkloadEvent.from_json(text.removeprefix("data:"))
                with self.changed:
                    self.events.append(event)
                    self.changed.notify_all()

    def wait_for(self, workload, state):
        def seen():
            return any(str(event.workload) == str(workload) and event.state == state for event in self.events)

        with self.changed:
            if not self.changed.wait_for(seen, timeout=PATIENCE_SECONDS):
                raise AssertionError(f"{workload} is not {state}; seen: {self.events}")


def submission(name):
    return Submission(queue=QUEUE, name=name, type=WorkloadType.TRAINING, command=["sleep", "600"])


def main():
    configuration = Configuration(host=os.environ["STORY_URL"], access_token=os.environ["STORY_TOKEN"])
    with ApiClient(configuration) as client:
        workloads, usage = WorkloadsApi(client), UsageApi(client)
        begin = datetime.now(timezone.utc)

        queues = QueuesApi(client).list_queues(TENANT)
        assert QUEUE in [queue.name for queue in queues.items], queues
        view = LiveView(workloads.watch_workloads_without_preload_content(TENANT))

        planned = workloads.submit_workload(TENANT, submission=submission(FIRST), dry_run=True).actual_instance
        assert isinstance(planned, DryRun) and planned.status == 201, planned
        assert workloads.list_workloads(TENANT, name=FIRST).items == []
        first = workloads.submit_workload(TENANT, submission=submission(FIRST), idempotency_key=RUN)
        again = workloads.submit_workload(TENANT, submission=submission(FIRST), idempotency_key=RUN)
        assert first.id == getattr(again, "actual_instance", again).id, (first, again)
        print("submitted once")

        view.wait_for(first.id, WorkloadState.RUNNING)
        print("watched it start")

        second = workloads.submit_workload(TENANT, submission=submission(SECOND))
        deadline = time.monotonic() + PATIENCE_SECONDS
        explanation = workloads.explain_workload(TENANT, str(second.id))
        while not explanation.reasons and time.monotonic() < deadline:
            time.sleep(0.2)
            explanation = workloads.explain_workload(TENANT, str(second.id))
        assert explanation.state == WorkloadState.WAITING, explanation
        assert [reason.code for reason in explanation.reasons] == [WaitReasonCode.LIMIT], explanation
        assert explanation.reasons[0].remedy, explanation
        print("explained: " + explanation.sentence)

        for workload in (second, first):
            workloads.cancel_workload(TENANT, str(workload.id))
            view.wait_for(workload.id, WorkloadState.CANCELLED)
        cancelled = workloads.list_workloads(TENANT, state=[WorkloadState.CANCELLED])
        assert {workload.id for workload in cancelled.items} >= {first.id, second.id}, cancelled
        details = workloads.get_workload(TENANT, str(first.id))
        assert [attempt.number for attempt in details.attempts] == [1], details
        print("cancelled")

        used = usage.get_usage(TENANT, var_from=begin.replace(minute=0, second=0, microsecond=0),
                               group_by=[UsageGroupBy.QUEUE, UsageGroupBy.USER])
        held = {row.queue: int(row.totals.held.gpu_milli_millis) for row in used.rows if row.user}
        assert held.get(QUEUE, 0) > 0, used
        print("used " + used.totals.held.gpu_hours + " GPU-hours")

        try:
            workloads.get_workload(STRANGER, str(first.id))
            raise AssertionError("another tenant's path is open")
        except NotFoundException as refused:
            assert Problem.from_json(refused.body).status == 404, refused
        try:
            workloads.list_workloads(TENANT, page_token="garbage")
            raise AssertionError("a page token of nobody is accepted")
        except BadRequestException as refused:
            assert [error.var_field for error in Problem.from_json(refused.body).errors] == ["pageToken"], refused
        print("refused as documented")


if __name__ == "__main__":
    main()
