"""The client of a tenant: submits jobs and finds them."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from pathlib import PurePosixPath
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from .auth import ClientCredentials, GivenToken, SavedLogin, TokenSource
from .errors import ProblemError, ServiceUnavailable
from .events import read_events
from .generated import AuthenticatedClient
from .generated.models import Workload, WorkloadEvent
from .http import KEY, ServiceClient
from .job import Job
from .preemption import STOP_NOTICE
from .settings import Target, config_folder, resolve, server_address
from .times import duration, seconds

_PAGE = 500
_RETRY_SECONDS = 60.0
_OUTAGE_SECONDS = 600.0
_INTERPRETER = re.compile(r"(python|node|ruby|perl|bash|sh|torchrun|java)[0-9.]*")


class Client:
    """
    The API of one server for one tenant. Threads may share it.

    `api` is for all calls of the contract: the functions in `quartermaster.generated.api` take it as `client`.
    """

    def __init__(
        self, server: str, tenant: str, source: TokenSource, *, retry_for: float | timedelta = _RETRY_SECONDS
    ) -> None:
        """
        `retry_for` is how long a request is repeated while the service is away or busy, in seconds or as a timedelta.
        """
        self.server = server_address(server)
        self.tenant = tenant
        self.http = ServiceClient(self.server, source, seconds(retry_for))
        """For calls without a function: it signs requests, repeats them, and raises problems."""
        self.api = AuthenticatedClient(base_url=self.server, token="").set_httpx_client(self.http)

    @classmethod
    def from_environment(cls, context: str | None = None, *, retry_for: float | timedelta = _RETRY_SECONDS) -> Client:
        """
        Takes server and tenant from QM_SERVER and QM_TENANT, or from the context of `qm` that is given, is named in
        QM_CONTEXT, or is current.

        Signs in with QM_TOKEN; otherwise as the client QM_CLIENT_ID (`automation` if absent) with QM_CLIENT_SECRET;
        otherwise with the saved login of `qm login`. With a given context only its saved login counts.
        """
        target = resolve(os.environ, context)
        variables: Mapping[str, str] = os.environ if context is None else {}
        source: TokenSource
        if token := variables.get("QM_TOKEN", "").strip():
            source = GivenToken(token)
        elif secret := variables.get("QM_CLIENT_SECRET", "").strip():
            source = ClientCredentials(target, variables.get("QM_CLIENT_ID", "").strip() or "automation", secret)
        else:
            source = SavedLogin(config_folder(os.environ), target)
        return cls(target.server, target.tenant, source, retry_for=retry_for)

    @classmethod
    def with_token(
        cls, server: str, tenant: str, token: str, *, retry_for: float | timedelta = _RETRY_SECONDS
    ) -> Client:
        """Signs in with an access token, which is never renewed."""
        return cls(server, tenant, GivenToken(token), retry_for=retry_for)

    @classmethod
    def with_secret(
        cls,
        server: str,
        tenant: str,
        client_secret: str,
        *,
        client_id: str = "automation",
        retry_for: float | timedelta = _RETRY_SECONDS,
    ) -> Client:
        """Signs in as a client of the tenant's realm. The token is renewed by itself."""
        target = Target(server_address(server), tenant)
        return cls(server, tenant, ClientCredentials(target, client_id, client_secret), retry_for=retry_for)

    def submit(
        self,
        queue: str,
        command: Sequence[str],
        *,
        name: str | None = None,
        type: str = "training",
        gpus: int | str | Decimal | None = None,
        min_gpus: int | str | Decimal | None = None,
        env: Mapping[str, str] | None = None,
        max_runtime: timedelta | str | None = None,
        labels: Mapping[str, str] | None = None,
        priority: int | None = None,
        preemptible: bool | None = None,
        dedicated_only: bool = False,
        hold: bool = False,
        abort_callback: Sequence[str] | None = None,
        idempotency_key: str | None = None,
    ) -> Job:
        """
        Submits a job and returns it without waiting for its start.

        No shell reads `command`. `gpus` is for each worker; the profile of the queue decides the number of workers.
        `max_runtime` is a timedelta, or a text such as `90m` or `PT2H`. Without an `abort_callback`, the job gets one
        that hands the reason of a stop and its deadline to `on_preempt`; an empty one means none.

        The request is repeated without a second submission. Give the error's `idempotency_key` to submit again after
        a lost answer. Raises ProblemError if the service refuses the job.
        """
        for words in (command, abort_callback):
            if isinstance(words, str):
                raise TypeError(f"a command is a list of the program and its arguments, not the text {words!r}")
        callback = STOP_NOTICE if abort_callback is None else abort_callback
        body: dict[str, Any] = {
            "queue": queue,
            "name": name or _name(command),
            "type": type,
            "command": list(command),
            "environment": dict(env) if env else None,
            "abortCallback": list(callback) or None,
            "priority": priority,
            "preemptible": preemptible,
            "dedicatedOnly": dedicated_only or None,
            "gpus": None if gpus is None else str(gpus),
            "minGpus": None if min_gpus is None else str(min_gpus),
            "maxRuntime": None if max_runtime is None else duration(max_runtime),
            "labels": dict(labels) if labels else None,
            "hold": hold or None,
        }
        key = idempotency_key or str(uuid.uuid4())
        try:
            answer = self.http.post(
                self.path("workloads"),
                json={field: value for field, value in body.items() if value is not None},
                headers={KEY: key},
            )
        except (ServiceUnavailable, ProblemError) as e:
            e.idempotency_key = key
            raise
        return Job(self, str(answer.json()["id"]))

    def job(self, job_id: str | uuid.UUID) -> Job:
        """The job with this id. Nothing is asked before it is used."""
        return Job(self, str(job_id))

    def jobs(self, **filters: str | int | bool) -> Iterator[Job]:
        """
        The jobs that fit, the newest first. The filters are those of the list of workloads, such as
        `state="waiting,running"`, `submittedBy="ann"` or `label="team=nlp"`.
        """
        parameters: dict[str, str | int | bool] = {"pageSize": _PAGE, **filters}
        while True:
            page = self.http.get(self.path("workloads"), params=parameters).json()
            for item in page["items"]:
                workload = Workload.from_dict(item)
                yield Job(self, str(workload.id), workload)
            if not page.get("nextPageToken"):
                return
            parameters["pageToken"] = page["nextPageToken"]

    def watch(self, outage: float | timedelta = _OUTAGE_SECONDS) -> Iterator[WorkloadEvent]:
        """
        The changes of the tenant's workloads from now on, without an end. A broken connection is made again, after the
        last change that was read. An outage of the service of up to `outage` does not end it.
        """
        for event in read_events(self.http, self.path("workloads", "watch"), {}, seconds(outage)):
            data = json.loads(event.data)
            if event.name == "problem":
                raise ProblemError(int(data.get("status", 0)), data, None, None)
            if event.name == "workload":
                yield WorkloadEvent.from_dict(data)

    def path(self, *steps: str) -> str:
        """A path below the tenant's own."""
        return "/".join(("/v1/tenants", quote(self.tenant, safe=""), *steps))

    def close(self) -> None:
        """Closes the connections."""
        self.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _name(command: Sequence[str]) -> str:
    """The file name of the program; of an interpreter, that of the program that it runs. As `qm` names jobs."""
    names = [PurePosixPath(word).name for word in command[:2]]
    runs_file = len(names) > 1 and _INTERPRETER.fullmatch(names[0]) and not command[1].startswith("-")
    return "".join(names[1:] if runs_file else names[:1])[:128] or "job"
