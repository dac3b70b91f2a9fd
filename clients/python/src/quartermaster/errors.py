"""What can go wrong, as exceptions. All of them are a QuartermasterError."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from .job import Job


class QuartermasterError(Exception):
    """The common class of all errors of this package."""


class ConfigurationError(QuartermasterError):
    """A setting, a variable or a file is missing or cannot be used. Nothing was sent."""


class NotSignedIn(QuartermasterError):
    """There is no valid token, and no new one can be had without a person."""


class ServiceUnavailable(QuartermasterError):
    """No answer came, also after repetitions. A request that changes something may have had its effect."""

    idempotency_key: str | None = None
    """Of a submission: the key with which to submit again, so that nothing is submitted twice."""


class NotInJob(QuartermasterError):
    """The function needs a variable that the agent sets, and the program does not run as a job."""


class JobFailed(QuartermasterError):
    """A job ended, and did not succeed."""

    def __init__(self, job: Job) -> None:
        reason = job.workload.end_reason
        super().__init__(f"job {job.name} ({job.id}) {job.state.value}" + (f": {reason}" if reason else ""))
        self.job = job


@dataclass(frozen=True)
class RefusedField:
    """A field, parameter or header that the service does not accept."""

    field: str
    message: str
    accepted: str | None


class ProblemError(QuartermasterError):
    """The service refused a request. Branch on `code`, which never changes its meaning; the text is for people."""

    idempotency_key: str | None = None
    """As that of ServiceUnavailable."""

    def __init__(
        self, status: int, document: dict[str, Any], retry_after: float | None, request_id: str | None
    ) -> None:
        self.status = status
        self.document = document
        """The problem document (RFC 9457); empty if something between answered instead of the service."""
        self.code = str(document.get("code", ""))
        self.detail = str(document.get("detail", "") or f"the server answered HTTP {status}")
        self.errors = [_refused_field(entry) for entry in document.get("errors") or []]
        self.retry_after = retry_after
        """Seconds after which to try again, if the service knows."""
        self.request_id = request_id
        super().__init__(self._text())

    def _text(self) -> str:
        lines = [f"{self.detail} ({self.code or self.status})"]
        for error in self.errors:
            line = f"{error.field}: {error.message}"
            if error.accepted:
                line += f"; accepted: {error.accepted}"
            lines.append(line)
        return "\n  ".join(lines)

    @classmethod
    def of(cls, response: httpx.Response) -> ProblemError:
        """The error of an answer whose body was read."""
        try:
            document = response.json()
        except ValueError:
            document = {}
        return cls(
            response.status_code,
            document if isinstance(document, dict) else {},
            _seconds(response.headers.get("Retry-After")),
            response.headers.get("X-Request-Id"),
        )


def _refused_field(entry: dict[str, Any]) -> RefusedField:
    return RefusedField(str(entry.get("field", "")), str(entry.get("message", "")), entry.get("accepted"))


def _seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.isascii() and header.isdigit() else None
