"""A local HTTP server whose answers a test states in advance."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Answer:
    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)
    breaks_off: bool = False
    """Whether the connection ends before the whole body was sent."""


def problem(status: int, code: str, headers: dict[str, str] | None = None, **more: Any) -> Answer:
    document = {"type": f"urn:quartermaster:problem:{code}", "title": code, "status": status, "code": code}
    return Answer(status, document | {"detail": f"It is {code}."} | more, headers or {})


class Service:
    """Answers the requests to each method and path in the stated order; the last answer is repeated."""

    def __init__(self) -> None:
        self.received: list[Received] = []
        self._answers: dict[tuple[str, str], list[Answer | Callable[[Received], Answer]]] = {}
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                self.reply(service._answer(Received(self.command, self.path, headers, body)))

            def reply(self, answer: Answer) -> None:
                body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in ({"Content-Type": "application/json"} | answer.headers).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body) + answer.breaks_off))
                self.end_headers()
                self.wfile.write(body)
                self.close_connection |= answer.breaks_off

            do_GET = do_POST = do_PUT = handle_one

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def on(self, method: str, path: str, *answers: Answer | Callable[[Received], Answer]) -> None:
        """The path has no query."""
        self._answers[method, path] = list(answers)

    def requests(self, method: str, path: str) -> list[Received]:
        return [each for each in self.received if (each.method, each.path.partition("?")[0]) == (method, path)]

    def _answer(self, request: Received) -> Answer:
        self.received.append(request)
        answers = self._answers.get((request.method, request.path.partition("?")[0]))
        if not answers:
            return problem(404, "not-found")
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return answer if isinstance(answer, Answer) else answer(request)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
