"""
For programs that run as a job: the end of an attempt, and what the agent states in variables.

Before the agent stops an attempt, it runs the abort callback of the job; then each process of the job gets SIGTERM, and
SIGKILL when the grace is over. A job of `Client.submit` has an abort callback that writes the reason and the grace to a
file, where the handler of SIGTERM finds them.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from .errors import NotInJob

STOP_NOTICE = (
    "sh",
    "-c",
    'f="$TMPDIR/.qm-stop-$QM_ATTEMPT_ID"; echo "$QM_STOP_REASON $QM_GRACE_MILLIS" > "$f.next" && mv "$f.next" "$f"',
)
"""The abort callback of jobs that state none."""

_ATTEMPT_AGAIN = ("PREEMPTED", "INCOMPLETE", "GIVEN_UP")


@dataclass(frozen=True)
class Stop:
    """A request to stop. `reason` and `deadline` are None if the job has an abort callback of its own."""

    reason: str | None
    """PREEMPTED, CANCELLED, TIMED_OUT, INCOMPLETE or GIVEN_UP."""
    deadline: float | None
    """When the remaining processes are killed, in seconds since the epoch."""

    @property
    def seconds_left(self) -> float | None:
        """The time until the deadline, never negative."""
        return None if self.deadline is None else max(0.0, self.deadline - time.time())

    @property
    def runs_again(self) -> bool | None:
        """Whether the job waits for another attempt; None if the reason is not known."""
        return None if self.reason is None else self.reason in _ATTEMPT_AGAIN


_Previous = Callable[[int, FrameType | None], object] | int | None


class _Handler:
    """The handler of SIGTERM. It runs the callbacks once; later signals have no effect."""

    def __init__(self, previous: _Previous) -> None:
        self._previous = previous
        self.callbacks: list[Callable[[Stop], object]] = []
        self.then_exit = False
        self.stop: Stop | None = None

    def __call__(self, signum: int, frame: FrameType | None) -> None:
        if self.stop is not None:
            return
        self.stop = _read_notice()
        for callback in self.callbacks:
            callback(self.stop)
        if callable(self._previous):
            self._previous(signum, frame)
        if self.then_exit:
            raise SystemExit(128 + signum)


_handler: _Handler | None = None


def on_preempt(
    callback: Callable[[Stop], object] | None = None, *, then_exit: bool | None = None
) -> Callable[[Stop], object] | None:
    """
    Runs `callback` when the agent asks the job to stop, for example to write a checkpoint, and then ends the program.

    The callback runs in the main thread, between two of its instructions. Earlier callbacks run first, then a handler
    of SIGTERM that was there before. With `then_exit=False` the program goes on. Without a callback it also goes on:
    its loop asks `stop_requested` at a moment that suits it, saves its state and returns.

    The agent signals the processes that it started. A shell in between would end first and the program with it, so
    start the program with `exec`. Usable as a decorator. Raises RuntimeError outside the main thread.
    """
    global _handler
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError("on_preempt needs the main thread of the program: only it can handle signals")
    current = signal.getsignal(signal.SIGTERM)
    handler = current if isinstance(current, _Handler) else _Handler(current)
    signal.signal(signal.SIGTERM, handler)
    _handler = handler
    if callback is not None:
        handler.callbacks.append(callback)
    handler.then_exit |= callback is not None if then_exit is None else then_exit
    return callback


def stop_requested() -> Stop | None:
    """The request to stop, or None while there is none. Needs an earlier call of `on_preempt`."""
    if _handler is None:
        raise RuntimeError("call on_preempt() at the start of the program: it installs the handler of the signal")
    return _handler.stop


def checkpoint_dir(default: str | os.PathLike[str] | None = None) -> Path:
    """
    The folder for checkpoints, which the next attempt on the same node finds again. Outside a job it is `default`, which
    is made if it is absent; without a default, NotInJob is raised.
    """
    folder = os.environ.get("QM_CHECKPOINT_DIR")
    if folder:
        return Path(folder)
    if default is None:
        raise _not_in_job("QM_CHECKPOINT_DIR")
    Path(default).mkdir(parents=True, exist_ok=True)
    return Path(default)


def in_job() -> bool:
    """Whether the program runs as a job."""
    return "QM_ATTEMPT_ID" in os.environ


def attempt() -> int:
    """The number of this attempt, from 1."""
    return _number("QM_ATTEMPT")


def node_rank() -> int:
    """The position of this node among those of the job, from 0."""
    return _number("QM_NODE_RANK")


def node_count() -> int:
    """The number of nodes of the job."""
    return _number("QM_NODES")


def _read_notice() -> Stop:
    """What the abort callback wrote, if it is STOP_NOTICE."""
    folder, attempt_id = os.environ.get("TMPDIR"), os.environ.get("QM_ATTEMPT_ID")
    if not folder or not attempt_id:
        return Stop(None, None)
    file = Path(folder) / f".qm-stop-{attempt_id}"
    try:
        reason, grace_millis = file.read_text(encoding="ascii").split()
        return Stop(reason, file.stat().st_mtime + int(grace_millis) / 1000)
    except (OSError, ValueError):
        return Stop(None, None)


def _number(variable: str) -> int:
    value = os.environ.get(variable)
    if not value:
        raise _not_in_job(variable)
    return int(value)


def _not_in_job(variable: str) -> NotInJob:
    return NotInJob(f"{variable} is not set: the program does not run as a job of Quartermaster")
