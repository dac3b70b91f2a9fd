"""The output of a job as it grows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from .errors import ProblemError
from .events import read_events
from .http import ServiceClient

_LONGEST_LINE = 64 * 1024
"""A line without an end, such as a progress bar, is handed out after so many characters."""


@dataclass(frozen=True)
class LogLine:
    """A line of output, without its line break."""

    text: str
    attempt: int
    worker: int
    at: datetime
    """When the service received the end of the line from the node."""

    def __str__(self) -> str:
        return self.text


def follow_lines(http: ServiceClient, path: str, attempt: int | None, outage_seconds: float) -> Iterator[LogLine]:
    """
    Reads the stored end of the output, then new lines until the job ends. Where output was lost, there is a line in
    square brackets that says so.
    """
    parameters = {} if attempt is None else {"attempt": str(attempt)}
    begun: dict[tuple[int, int], LogLine] = {}
    last = (attempt or 0, 0, datetime.now().astimezone())
    for event in read_events(http, path, parameters, outage_seconds):
        data = json.loads(event.data)
        if event.name == "log":
            place = (data["attempt"], data["worker"])
            before = begun.pop(place, None)
            text = (before.text if before else "") + data["line"]
            line = LogLine(text, *place, datetime.fromisoformat(data["at"]))
            last = (*place, line.at)
            if data["partial"] and len(text) < _LONGEST_LINE:
                begun[place] = line
            else:
                yield line
        elif event.name == "gap":
            yield LogLine(f"[{data.get('lostBytes', 'some')} bytes of output were not stored]", *last)
        elif event.name == "omitted":
            yield LogLine("[the output of further workers is left out]", *last)
        elif event.name == "problem":
            raise ProblemError(int(data.get("status", 0)), data, None, None)
        elif event.name == "end":
            yield from begun.values()
            return
