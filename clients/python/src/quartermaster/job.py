"""A job of the tenant."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Literal, overload
from urllib.parse import quote

from .errors import JobFailed, ProblemError, ServiceUnavailable
from .generated.models import Explanation, Workload, WorkloadDetails, WorkloadState
from .logs import LogLine, follow_lines
from .times import duration, seconds

if TYPE_CHECKING:
    from .client import Client

_ENDED = (WorkloadState.SUCCEEDED, WorkloadState.FAILED, WorkloadState.CANCELLED)
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 5.0
_OUTAGE_SECONDS = 600.0
"""How long the service may be away while a program waits for a job."""

_MOST_OUTPUT = 65_536


class Job:
    """A job, as the service described it last; `refresh` asks again."""

    def __init__(self, client: Client, job_id: str, workload: Workload | None = None) -> None:
        self.id = job_id
        self._client = client
        self._workload = workload
        self._details: WorkloadDetails | None = None

    @property
    def workload(self) -> Workload:
        """The fields of the job in lists."""
        return self._workload if self._workload is not None else self.details.workload

    @property
    def details(self) -> WorkloadDetails:
        """Its command, attempts, reasons and preemptions."""
        if self._details is None:
            self.refresh()
        assert self._details is not None
        return self._details

    @property
    def name(self) -> str:
        return self.workload.name

    @property
    def state(self) -> WorkloadState:
        return self.workload.state

    @property
    def ended(self) -> bool:
        """Whether the job has succeeded, failed, or was cancelled."""
        return self.state in _ENDED

    def refresh(self) -> Job:
        """Asks the service for the present state, and returns this job."""
        self._details = WorkloadDetails.from_dict(self._client.http.get(self._path()).json())
        self._workload = self._details.workload
        return self

    def wait(
        self,
        timeout: float | timedelta | None = None,
        *,
        until: Literal["ended", "started"] = "ended",
        check: bool = False,
    ) -> WorkloadState:
        """
        Waits until the job has ended, or runs, and returns its state.

        Raises TimeoutError after `timeout` (seconds or a timedelta), and JobFailed with `check` if the job ended
        without success. An outage of the service of up to ten minutes does not end the wait.
        """
        begun = heard_at = time.monotonic()
        pause = _FIRST_PAUSE_SECONDS
        limit = None if timeout is None else seconds(timeout)
        while True:
            known = False
            try:
                self.refresh()
                heard_at, known = time.monotonic(), True
            except (ServiceUnavailable, ProblemError) as e:
                passing = not isinstance(e, ProblemError) or e.status == 429 or e.status >= 500
                if not passing or time.monotonic() - heard_at > _OUTAGE_SECONDS:
                    raise
            if known and (self.ended or (until == "started" and self.state == WorkloadState.RUNNING)):
                break
            if limit is not None:
                left = begun + limit - time.monotonic()
                if left <= 0:
                    state = self._workload.state.value if self._workload else "unknown"
                    raise TimeoutError(f"the state of job {self.id} is {state} after {limit:g} s")
                pause = min(pause, left)
            time.sleep(pause)
            pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
        if check and self.ended and self.state != WorkloadState.SUCCEEDED:
            raise JobFailed(self)
        return self.state

    @overload
    def logs(self, *, follow: Literal[False] = False, attempt: int | None = None) -> str: ...

    @overload
    def logs(self, *, follow: Literal[True], attempt: int | None = None) -> Iterator[LogLine]: ...

    def logs(self, *, follow: bool = False, attempt: int | None = None) -> str | Iterator[LogLine]:
        """
        The end of the output of an attempt, by default the newest: at most 64 Ki characters.

        With `follow`, its lines as they are written: the stored end first, and then new lines until the job ends,
        across its attempts. A broken connection is made again without lost or repeated lines.
        """
        if follow:
            return follow_lines(self._client.http, self._path("logs", "stream"), attempt, _OUTAGE_SECONDS)
        parameters = {"bytes": _MOST_OUTPUT} | ({} if attempt is None else {"attempt": attempt})
        return self._client.http.get(self._path("logs"), params=parameters).text

    def why(self) -> Explanation:
        """Why the job waits, runs or stops: in words in `sentence`, and with a code for each pool in `reasons`."""
        return Explanation.from_dict(self._client.http.get(self._path("explain")).json())

    def cancel(self, grace: timedelta | str | None = None) -> Job:
        """Asks for the end of the job; with `grace`, it has at most this time to stop. Returns without waiting."""
        return self._ask("cancel", {} if grace is None else {"grace": duration(grace)})

    def hold(self) -> Job:
        """Keeps a waiting job from starting."""
        return self._ask("hold", {})

    def release(self) -> Job:
        """Lets a held job start."""
        return self._ask("release", {})

    def _ask(self, change: str, parameters: dict[str, str]) -> Job:
        self._client.http.post(self._path(change), params=parameters)
        return self.refresh()

    def _path(self, *steps: str) -> str:
        return self._client.path("workloads", quote(self.id, safe=""), *steps)

    def __repr__(self) -> str:
        return f"<Job {self.id}>" if self._workload is None else f"<Job {self.id} {self.name} {self.state.value}>"
