"""Server-sent events (HTML standard, section 9.2), read across broken connections."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import httpx

from .errors import ProblemError, ServiceUnavailable
from .http import ServiceClient, backoff

# The service sends something every 15 seconds, so a longer silence is a broken connection.
_SILENCE = httpx.Timeout(60, connect=10)
_PAUSE_SECONDS = 0.5


@dataclass(frozen=True)
class Event:
    """An event with its data, a text."""

    name: str
    data: str
    id: str


def read_events(
    http: ServiceClient, path: str, parameters: Mapping[str, str], outage_seconds: float, last_id: str = ""
) -> Iterator[Event]:
    """
    Reads events, each once and in order, without an end. A connection that ends or breaks is made again after the last
    event. Raises ServiceUnavailable, or the problem, if the service is away for longer than `outage_seconds`.
    """
    heard_at = time.monotonic()
    failures = 0
    while True:
        headers = {"Accept": "text/event-stream, application/json;q=0.9"}
        if last_id:
            headers["Last-Event-ID"] = last_id
        failure: Exception | None = None
        try:
            with http.stream("GET", path, params=dict(parameters), headers=headers, timeout=_SILENCE) as response:
                for event in parse(split_lines(response.iter_bytes()), last_id):
                    last_id = event.id
                    heard_at, failures = time.monotonic(), 0
                    yield event
        except httpx.TransportError as e:
            failure = ServiceUnavailable(f"the stream {path} broke: {e}")
        except ServiceUnavailable as e:
            failure = e
        except ProblemError as e:
            if e.status != 429 and e.status < 500:
                raise
            failure = e
        if failure is not None and time.monotonic() - heard_at > outage_seconds:
            raise failure
        time.sleep(_PAUSE_SECONDS if failure is None else backoff(failures))
        failures += failure is not None


def split_lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """The complete lines. Only a line feed ends one: texts may contain the other characters that end lines in Python."""
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.removesuffix(b"\r").decode("utf-8", errors="replace")


def parse(lines: Iterable[str], last_id: str = "") -> Iterator[Event]:
    """The complete events. An event that breaks off does not count, so that it is sent again."""
    name, event_id = "message", last_id
    data: list[str] = []
    for line in lines:
        if not line:
            if data:
                yield Event(name, "\n".join(data), event_id)
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
        elif field == "id":
            event_id = value
