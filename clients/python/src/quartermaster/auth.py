"""Access tokens: a given one, one of a program's client, or the login that `qm login` saved."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import httpx

from .errors import ConfigurationError, NotSignedIn, ServiceUnavailable
from .settings import Target, require_encryption

_RESERVE_SECONDS = 15.0
"""A token that ends sooner is renewed before its use."""

_TIMEOUT = httpx.Timeout(30, connect=10)
_ENDED = ("invalid_grant", "invalid_client", "unauthorized_client")
"""The errors (RFC 6749, section 5.2) after which a login cannot be renewed any more."""


class TokenSource(Protocol):
    """Gives the access tokens of requests. It may be used by several threads."""

    def current(self) -> str:
        """A token that is valid for some seconds at least."""

    def after_refusal(self, refused: str) -> str:
        """A token other than the one that the service refused."""


class GivenToken:
    """A token that is never renewed."""

    def __init__(self, token: str) -> None:
        self._token = token

    def current(self) -> str:
        return self._token

    def after_refusal(self, refused: str) -> str:
        raise NotSignedIn("the service does not accept the given token; it may have expired")


class ClientCredentials:
    """Signs a program in with the secret of its client (RFC 6749, section 4.4), and again before the token ends."""

    def __init__(self, target: Target, client_id: str, client_secret: str) -> None:
        self._target = target
        self._client_id = client_id
        self._secret = client_secret
        self._lock = threading.Lock()
        self._endpoint: str | None = None
        self._token = ""
        self._ends_at = 0.0

    def current(self) -> str:
        with self._lock:
            if time.monotonic() >= self._ends_at - _RESERVE_SECONDS:
                self._sign_in()
            return self._token

    def after_refusal(self, refused: str) -> str:
        with self._lock:
            if self._token == refused:
                self._sign_in()
            return self._token

    def _sign_in(self) -> None:
        asked_at = time.monotonic()
        if self._endpoint is None:
            self._endpoint = _token_endpoint(self._target)
        answer = _renewal(self._endpoint, _credentials(self._client_id, self._secret))
        if answer is None:
            raise NotSignedIn(f"the realm of tenant {self._target.tenant} does not accept client {self._client_id}")
        self._token = str(answer["access_token"])
        self._ends_at = asked_at + float(answer.get("expires_in", 0))


class SavedLogin:
    """The login in the file of `qm login`. It is renewed there, as `qm` renews it."""

    def __init__(self, folder: Path, target: Target) -> None:
        self._file = folder / "tokens.json"
        self._target = target
        self._key = f"{target.server} {target.tenant}"
        self._lock = threading.Lock()

    def current(self) -> str:
        login = self._login(self._read())
        token = str(login["accessToken"])
        return token if time.time() + _RESERVE_SECONDS < float(login.get("expiresAt", 0)) else self._renewed(token)

    def after_refusal(self, refused: str) -> str:
        return self._renewed(refused)

    def _renewed(self, old: str) -> str:
        """Renews the login, unless another process has done so meanwhile."""
        with self._lock, _locked(self._file.with_name(self._file.name + ".lock")):
            logins = self._read()
            login = self._login(logins)
            if login["accessToken"] == old:
                self._renew(login)
                self._write(logins)
            return str(login["accessToken"])

    def _renew(self, login: dict[str, Any]) -> None:
        require_encryption(self._target.server, login["tokenEndpoint"])
        if login.get("clientSecret"):
            fields = _credentials(login["clientId"], login["clientSecret"])
        elif login.get("refreshToken"):
            fields = {
                "grant_type": "refresh_token",
                "client_id": login["clientId"],
                "refresh_token": login["refreshToken"],
            }
        else:
            raise self._not_signed_in()
        answer = _renewal(login["tokenEndpoint"], fields)
        if answer is None:
            raise self._not_signed_in()
        login["accessToken"] = answer["access_token"]
        login["expiresAt"] = int(time.time()) + int(answer.get("expires_in", 0))
        if answer.get("refresh_token") and not login.get("clientSecret"):
            login["refreshToken"] = answer["refresh_token"]

    def _read(self) -> dict[str, Any]:
        try:
            if os.name == "posix" and self._file.stat().st_mode & 0o077:
                raise ConfigurationError(f"other users may read the tokens. Run: chmod 600 {self._file}")
            logins = json.loads(self._file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise self._not_signed_in() from None
        except ValueError as e:
            raise ConfigurationError(f"{self._file} cannot be used: {e}. Remove it, and run: qm login") from e
        if not isinstance(logins, dict):
            raise ConfigurationError(f"{self._file} cannot be used. Remove it, and run: qm login")
        return logins

    def _login(self, logins: dict[str, Any]) -> dict[str, Any]:
        login = logins.get(self._key)
        if not isinstance(login, dict) or not {"accessToken", "tokenEndpoint", "clientId"} <= login.keys():
            raise self._not_signed_in()
        return login

    def _write(self, logins: dict[str, Any]) -> None:
        handle, name = tempfile.mkstemp(dir=self._file.parent, prefix=self._file.name, suffix=".next")
        with os.fdopen(handle, "w", encoding="utf-8") as next_file:
            next_file.write(json.dumps(logins, indent=2) + "\n")
        os.replace(name, self._file)

    def _not_signed_in(self) -> NotSignedIn:
        return NotSignedIn(
            f"you are not signed in to tenant {self._target.tenant} at {self._target.server}. Run: qm login"
        )


class BearerAuth(httpx.Auth):
    """Adds the token to each request, and repeats a request once with another token if the service refuses the first."""

    def __init__(self, source: TokenSource) -> None:
        self._source = source

    def sync_auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        token = self._source.current()
        request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if response.status_code == 401:
            request.headers["Authorization"] = f"Bearer {self._source.after_refusal(token)}"
            yield request


def _credentials(client_id: str, secret: str) -> dict[str, str]:
    return {"grant_type": "client_credentials", "client_id": client_id, "client_secret": secret, "scope": "openid"}


def _token_endpoint(target: Target) -> str:
    """Asks the service where the tenant signs in, and the issuer for its endpoint."""
    issuer = str(_document(f"{target.server}/v1/sign-in/{target.tenant}").get("issuer", ""))
    require_encryption(target.server, issuer)
    described = _document(f"{issuer}/.well-known/openid-configuration")
    if described.get("issuer") != issuer:
        raise ServiceUnavailable(f"{issuer} does not describe itself as an OpenID provider")
    endpoint = str(described.get("token_endpoint", ""))
    require_encryption(target.server, endpoint)
    return endpoint


def _document(address: str) -> dict[str, Any]:
    try:
        response = httpx.get(address, timeout=_TIMEOUT)
        document = response.json() if response.status_code == 200 else None
    except (httpx.HTTPError, ValueError) as e:
        raise ServiceUnavailable(f"{address} does not answer: {e}") from e
    if response.status_code == 404:
        raise ConfigurationError(f"there is no sign-in at {address}. Check the server and the tenant")
    if not isinstance(document, dict):
        raise ServiceUnavailable(f"{address} answers HTTP {response.status_code}")
    return document


def _renewal(endpoint: str, fields: dict[str, str]) -> dict[str, Any] | None:
    """The answer with a new access token; None if the login has ended."""
    try:
        response = httpx.post(endpoint, data=fields, timeout=_TIMEOUT)
        answer = response.json()
    except (httpx.HTTPError, ValueError) as e:
        raise ServiceUnavailable(f"{endpoint} does not answer: {e}") from e
    if not isinstance(answer, dict):
        answer = {}
    if response.status_code != 200 and answer.get("error") in _ENDED:
        return None
    if response.status_code != 200 or not answer.get("access_token"):
        raise ServiceUnavailable(f"{endpoint} gives no token now (HTTP {response.status_code})")
    return answer


@contextmanager
def _locked(file: Path) -> Iterator[None]:
    """Holds the lock that `qm` takes. Without such locks on this system, a renewal may cross one of `qm`."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with os.fdopen(os.open(file, os.O_RDWR | os.O_CREAT, 0o600), "r+") as handle:
        fcntl.lockf(handle, fcntl.LOCK_EX)
        yield
