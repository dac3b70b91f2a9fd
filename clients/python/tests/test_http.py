"""Repetitions, problems and submissions."""

import socket
import time
import unittest
from datetime import timedelta
from typing import Any

from quartermaster import Client, ProblemError, RefusedField, ServiceUnavailable
from quartermaster.generated.api.queues import list_queues

from .service import Answer, Service, problem

JOBS = "/v1/tenants/acme/workloads"
ID = "6d1a1c5e-8f2f-4a51-9d57-0d6d1c1f3c11"


def workload(**fields: Any) -> dict[str, Any]:
    return {
        "id": ID,
        "name": "train",
        "type": "training",
        "queue": "q",
        "policy": "p",
        "group": "/rnd",
        "profile": "one",
        "submittedBy": "ann",
        "priority": 50,
        "preemptible": True,
        "dedicatedOnly": False,
        "labels": {},
        "state": "waiting",
        "wish": "run",
        "version": 1,
        "attempts": 0,
        "submittedAt": "2026-11-24T08:00:00.123456789Z",
        **fields,
    }


def details(**fields: Any) -> dict[str, Any]:
    nothing: list[Any] = []
    return {
        "workload": workload(**fields),
        "command": ["true"],
        "attempts": nothing,
        "surplusWorkers": nothing,
        "reasons": nothing,
        "preemptions": nothing,
    }


class ServiceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = self.enterContext(Service())
        self.client = self.client_of(timedelta(seconds=10))

    def client_of(self, retry_for: float | timedelta) -> Client:
        return self.enterContext(Client.with_token(self.service.url, "acme", "a-token", retry_for=retry_for))


class SubmissionTest(ServiceTest):
    def test_a_submission_is_repeated_with_its_key_after_a_lost_answer(self) -> None:
        self.service.on("POST", JOBS, Answer(201, {"id": ID}, breaks_off=True), Answer(201, {"id": ID}))

        job = self.client.submit("q", ["python", "train.py"])

        first, second = self.service.requests("POST", JOBS)
        self.assertEqual(job.id, ID)
        self.assertEqual(first.body, second.body)
        self.assertEqual(first.headers["idempotency-key"], second.headers["idempotency-key"])
        self.assertEqual(first.headers["authorization"], "Bearer a-token")

    def test_the_fields_are_those_of_the_contract(self) -> None:
        self.service.on("POST", JOBS, Answer(201, {"id": ID}))

        self.client.submit(
            "q",
            ["/usr/bin/python3.12", "/opt/train.py", "--fast"],
            gpus=4,
            env={"SEED": "7"},
            max_runtime="1h30m",
            idempotency_key="mine",
            abort_callback=[],
        )

        (request,) = self.service.requests("POST", JOBS)
        self.assertEqual(request.headers["idempotency-key"], "mine")
        self.assertEqual(
            request.json(),
            {
                "queue": "q",
                "name": "train.py",
                "type": "training",
                "command": ["/usr/bin/python3.12", "/opt/train.py", "--fast"],
                "environment": {"SEED": "7"},
                "gpus": "4",
                "maxRuntime": "PT5400S",
            },
        )

    def test_a_command_in_one_text_is_refused(self) -> None:
        with self.assertRaisesRegex(TypeError, "list of the program"):
            self.client.submit("q", "python train.py")
        self.assertEqual(self.service.received, [])

    def test_an_outage_that_lasts_leaves_the_key_with_the_error(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as unused:
            address = f"http://127.0.0.1:{unused.getsockname()[1]}"
        client = self.enterContext(Client.with_token(address, "acme", "a-token", retry_for=0.5))

        with self.assertRaises(ServiceUnavailable) as raised:
            client.submit("q", ["true"], idempotency_key="mine")

        self.assertEqual(raised.exception.idempotency_key, "mine")


class ProblemTest(ServiceTest):
    def test_a_problem_names_its_code_and_each_refused_field(self) -> None:
        field = {"field": "priority", "message": "is too high", "accepted": "0 to 50"}
        self.service.on("POST", JOBS, problem(422, "beyond-submission-rights", {"X-Request-Id": "r-1"}, errors=[field]))

        with self.assertRaises(ProblemError) as raised:
            self.client.submit("q", ["true"], priority=900)

        error = raised.exception
        self.assertEqual((error.status, error.code, error.request_id), (422, "beyond-submission-rights", "r-1"))
        self.assertEqual(error.errors, [RefusedField("priority", "is too high", "0 to 50")])
        self.assertIn("accepted: 0 to 50", str(error))
        self.assertEqual(len(self.service.received), 1)

    def test_a_busy_service_is_asked_again_after_the_time_that_it_states(self) -> None:
        self.service.on(
            "GET", f"{JOBS}/{ID}", problem(429, "too-many-requests", {"Retry-After": "1"}), Answer(body=details())
        )
        begun = time.monotonic()

        job = self.client.job(ID).refresh()

        self.assertGreaterEqual(time.monotonic() - begun, 1)
        self.assertEqual(job.state, "waiting")

    def test_a_time_beyond_the_patience_ends_the_call_immediately(self) -> None:
        self.service.on("GET", f"{JOBS}/{ID}", problem(503, "unavailable", {"Retry-After": "600"}))
        begun = time.monotonic()

        with self.assertRaises(ProblemError) as raised:
            self.client.job(ID).refresh()

        self.assertEqual(raised.exception.retry_after, 600)
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(len(self.service.received), 1)

    def test_a_change_without_a_key_is_repeated_only_if_nothing_of_it_was_kept(self) -> None:
        path = "/v1/tenants/acme/allowed-origins"
        self.service.on("PUT", path, problem(429, "too-many-requests"), problem(503, "unavailable"), Answer())

        with self.assertRaises(ProblemError) as raised:
            self.client.http.put(path, json={"origins": []})

        self.assertEqual(raised.exception.status, 503)
        self.assertEqual(len(self.service.received), 2)

    def test_an_answer_of_a_proxy_is_a_problem_too(self) -> None:
        self.service.on("GET", f"{JOBS}/{ID}", Answer(502, b"<html>Bad gateway</html>", {"Content-Type": "text/html"}))

        with self.assertRaises(ProblemError) as raised:
            self.client_of(0).job(ID).refresh()

        self.assertEqual((raised.exception.status, raised.exception.code), (502, ""))


class WaitTest(ServiceTest):
    def test_a_wait_outlasts_an_outage(self) -> None:
        self.service.on(
            "GET",
            f"{JOBS}/{ID}",
            Answer(body=details(state="running")),
            problem(503, "unavailable"),
            Answer(body=details(state="succeeded", attempts=2)),
        )

        job = self.client_of(0).job(ID)

        self.assertEqual(job.wait(30, check=True), "succeeded")
        self.assertEqual(job.workload.attempts, 2)

    def test_a_wait_ends_with_its_time(self) -> None:
        self.service.on("GET", f"{JOBS}/{ID}", Answer(body=details(state="running")))

        with self.assertRaisesRegex(TimeoutError, "running"):
            self.client.job(ID).wait(timedelta(milliseconds=100))

    def test_a_state_of_a_newer_service_is_no_error(self) -> None:
        self.service.on("GET", f"{JOBS}/{ID}", Answer(body=details(state="migrating")))

        job = self.client.job(ID).refresh()

        self.assertEqual(job.state.value, "migrating")
        self.assertFalse(job.ended)


class ListTest(ServiceTest):
    def test_a_list_is_read_page_by_page(self) -> None:
        self.service.on(
            "GET",
            JOBS,
            Answer(body={"items": [workload(name="b")], "nextPageToken": "t/1"}),
            Answer(body={"items": [workload(name="a")]}),
        )

        self.assertEqual([job.name for job in self.client.jobs(state="waiting,running")], ["b", "a"])

        first, second = self.service.requests("GET", JOBS)
        self.assertIn("state=waiting%2Crunning", first.path)
        self.assertIn("pageToken=t%2F1", second.path)
        self.assertIn("state=waiting%2Crunning", second.path)

    def test_generated_calls_raise_problems_too(self) -> None:
        self.service.on("GET", "/v1/tenants/acme/queues", problem(403, "forbidden"))

        with self.assertRaises(ProblemError) as raised:
            list_queues.sync("acme", client=self.client.api)

        self.assertEqual(raised.exception.code, "forbidden")
