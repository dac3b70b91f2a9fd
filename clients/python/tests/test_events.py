"""Streams of events, and the output of jobs."""

import json
from typing import Any

from quartermaster import ProblemError
from quartermaster.events import Event, parse, split_lines

from .service import Answer, problem
from .test_http import ID, JOBS, ServiceTest

STREAM = f"{JOBS}/{ID}/logs/stream"
SSE = {"Content-Type": "text/event-stream"}


def event(name: str, event_id: str, **data: Any) -> bytes:
    return f"event: {name}\nid: {event_id}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def line(offset: int, text: str, partial: bool = False, worker: int = 0) -> bytes:
    fields = {"attempt": 1, "worker": worker, "stream": "combined", "at": "2026-11-24T08:00:00.123456789Z"}
    return event("log", f"1:{worker}:{offset}", line=text, partial=partial, **fields)


class ParserTest(ServiceTest):
    def test_only_a_line_feed_ends_a_line(self) -> None:
        text = "event: log\r\ndata: a\u2028b\x85c\r\n\r\n".encode()

        lines = list(split_lines(bytes([byte]) for byte in text))

        self.assertEqual(list(parse(lines)), [Event("log", "a\u2028b\x85c", "")])

    def test_an_event_that_breaks_off_counts_neither_nor_does_its_id(self) -> None:
        lines = ["id: 1", "data: a", "", ": heartbeat", "", "id: 2", "data: b"]

        self.assertEqual(list(parse(lines)), [Event("message", "a", "1")])


class LogTest(ServiceTest):
    def lines(self) -> list[str]:
        return [str(each) for each in self.client.job(ID).logs(follow=True)]

    def test_a_broken_stream_continues_after_its_last_event(self) -> None:
        half = line(20, "two")[:-9]
        self.service.on(
            "GET",
            STREAM,
            Answer(body=line(10, "one") + half, headers=SSE, breaks_off=True),
            problem(503, "unavailable", {"Retry-After": "0"}),
            Answer(body=line(20, "two") + event("end", "1:0:20", state="succeeded"), headers=SSE),
        )

        self.assertEqual(self.lines(), ["one", "two"])

        asked = [each.headers.get("last-event-id") for each in self.service.requests("GET", STREAM)]
        self.assertEqual(asked, [None, "1:0:10", "1:0:10"])

    def test_a_stream_that_ends_with_its_token_continues(self) -> None:
        end = event("end", "1:0:20", state="failed")
        self.service.on("GET", STREAM, Answer(body=line(10, "one"), headers=SSE), Answer(body=end, headers=SSE))

        self.assertEqual(self.lines(), ["one"])

    def test_the_parts_of_a_line_are_joined_for_each_worker(self) -> None:
        parts = [line(1, "10 %", True), line(1, "other", worker=1), line(2, " 90 %"), line(3, "rest", True)]
        body = b"".join(parts) + event("end", "1:0:3", state="succeeded")
        self.service.on("GET", STREAM, Answer(body=body, headers=SSE))

        self.assertEqual(self.lines(), ["other", "10 % 90 %", "rest"])

    def test_lost_output_is_stated(self) -> None:
        body = event("gap", "1:0:9", attempt=1, worker=0, lostBytes=512) + event("end", "1:0:9", state="succeeded")
        self.service.on("GET", STREAM, Answer(body=body, headers=SSE))

        self.assertEqual(self.lines(), ["[512 bytes of output were not stored]"])

    def test_a_refusal_ends_the_stream(self) -> None:
        self.service.on("GET", STREAM, problem(403, "forbidden"))

        with self.assertRaises(ProblemError):
            self.lines()
        self.assertEqual(len(self.service.received), 1)


class WatchTest(ServiceTest):
    def test_a_problem_in_a_live_view_is_raised(self) -> None:
        change = event("workload", "5", workload=ID, at="2026-11-24T08:00:00Z", state="running")
        gone = event("problem", "6", status=410, code="feed-entry-gone", detail="Too long ago.", type="", title="")
        self.service.on("GET", f"{JOBS}/watch", Answer(body=change + gone, headers=SSE))

        changes = self.client.watch()

        self.assertEqual(next(changes).state, "running")
        with self.assertRaises(ProblemError) as raised:
            next(changes)
        self.assertEqual(raised.exception.code, "feed-entry-gone")
