"""The HTTP client of all calls: repeats what may be repeated, and turns problems into exceptions."""

from __future__ import annotations

import itertools
import logging
import random
import time
import uuid
from typing import Any

import httpx

from .auth import BearerAuth, TokenSource
from .errors import ProblemError, ServiceUnavailable
from .version import VERSION

KEY = "Idempotency-Key"

_LOG = logging.getLogger("quartermaster")
_TOO_MANY = 429
_AWAY = (502, 503, 504)
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 10.0
_CONNECT_SECONDS = 10.0
_ANSWER_SECONDS = 60.0


class ServiceClient(httpx.Client):
    """
    An httpx client whose requests carry a token, and which raises a ProblemError for each answer that is an error.

    A POST carries an `Idempotency-Key`, so that its repetition has no further effect. A request is repeated with
    growing pauses, or after the `Retry-After` of the answer, for `retry_seconds` in all. After 429 each request is
    repeated, since the service kept nothing of it. After 502, 503, 504 or without an answer, only a GET and a request
    with a key are.
    """

    def __init__(self, server: str, source: TokenSource, retry_seconds: float) -> None:
        # Redirects are not followed: they would carry tokens to other addresses.
        super().__init__(
            base_url=server,
            auth=BearerAuth(source),
            timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            headers={"User-Agent": f"quartermaster-python/{VERSION}"},
            follow_redirects=False,
        )
        self._retry_seconds = retry_seconds

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """The answer, which is none of an error. Raises ProblemError, ServiceUnavailable or NotSignedIn."""
        if request.method == "POST":
            request.headers.setdefault(KEY, str(uuid.uuid4()))
        keyed = request.method in ("GET", "HEAD") or KEY in request.headers
        give_up_at = time.monotonic() + self._retry_seconds
        for attempt in itertools.count():
            failure: ProblemError | ServiceUnavailable
            try:
                response = super().send(request, **options)
                if response.status_code < 400:
                    return response
                response.read()
                failure = ProblemError.of(response)
                repeatable = failure.status == _TOO_MANY or (failure.status in _AWAY and keyed)
                pause = failure.retry_after
            except httpx.TransportError as e:
                failure = ServiceUnavailable(
                    f"{request.url.scheme}://{request.url.netloc.decode()} does not answer: {e}"
                )
                failure.__cause__ = e
                repeatable, pause = keyed or isinstance(e, httpx.ConnectError), None
            except ServiceUnavailable as e:
                failure, repeatable, pause = e, True, None  # The realm gives no token now, so nothing was sent.
            if pause is None:
                pause = backoff(attempt)
            if not repeatable or time.monotonic() + pause > give_up_at:
                raise failure
            _LOG.info("%s %s is repeated in %.1f s: %s", request.method, request.url.path, pause, failure)
            time.sleep(pause)
        raise AssertionError("the loop ends with an answer or an exception")


def backoff(attempt: int) -> float:
    """The pause after an attempt, counted from 0, in seconds. It is random, so that clients do not repeat in step."""
    longest = min(_LONGEST_PAUSE_SECONDS, _FIRST_PAUSE_SECONDS * 2.0 ** min(attempt, 10))
    return random.uniform(longest / 2, longest)
