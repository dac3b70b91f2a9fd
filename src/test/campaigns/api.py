"""Calls to the public API and to Keycloak, with the standard library only."""

import http.client
import json
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

# Answers that a caller may repeat: too many requests, or something behind the service is away for now.
AWAY = (429, 502, 503, 504)


class NoAnswer(Exception):
    """The request was not answered within its patience; whether it took effect is not known."""


class Refused(Exception):
    """The service answered with something else than success."""

    def __init__(self, method, path, answer):
        super().__init__(f"{method} {path}: {answer.status} {answer.text()[:400]}")
        self.answer = answer


class Answer:
    def __init__(self, status, body, seconds):
        self.status = status
        self.raw = body
        self.seconds = seconds

    @property
    def ok(self):
        return 200 <= self.status < 300

    def text(self):
        return self.raw.decode("utf-8", "replace")

    def json(self):
        return json.loads(self.raw) if self.raw else None


def request(url, method="GET", body=None, headers=None, timeout=30):
    """One request; every status is an answer. Raises OSError or HTTPException when there is none."""
    begun = time.monotonic()
    made = urllib.request.Request(url, data=body, method=method, headers=headers or {})
    try:
        with urllib.request.urlopen(made, timeout=timeout) as response:
            return Answer(response.status, response.read(), time.monotonic() - begun)
    except urllib.error.HTTPError as refused:
        with refused:
            return Answer(refused.code, refused.read(), time.monotonic() - begun)


class Client:
    """One user of one realm. The token is kept, and asked for again in the last minute of its life."""

    def __init__(self, url, keycloak, realm, user, password, journal=None):
        self.url = url
        self.keycloak = keycloak
        self.realm = realm
        self.user = user
        self._password = password
        self._journal = journal
        self._lock = threading.Lock()
        self._token = None
        self._until = 0.0

    def token(self, patience=600, renew_before=60):
        with self._lock:
            if self._token is None or time.monotonic() > self._until - renew_before:
                self._login(patience)
            return self._token

    def renew(self):
        """Gets a token with its whole life before it."""
        with self._lock:
            self._login(600)

    def kept_token(self):
        """The token as it is, however old; asks nobody."""
        return self._token

    def _login(self, patience):
        form = urllib.parse.urlencode(
            {"grant_type": "password", "client_id": "portal", "username": self.user, "password": self._password}
        ).encode()
        url = f"{self.keycloak}/realms/{self.realm}/protocol/openid-connect/token"
        end = time.monotonic() + patience
        while True:
            begun = time.monotonic()
            try:
                answer = request(url, "POST", form, timeout=20)
                if answer.status == 200:
                    given = answer.json()
                    self._token = given["access_token"]
                    self._until = begun + given["expires_in"]
                    return
                problem = f"{answer.status} {answer.text()[:200]}"
            except (OSError, http.client.HTTPException) as e:
                problem = repr(e)
            if time.monotonic() > end:
                raise NoAnswer(f"no token for {self.user} of {self.realm}: {problem}")
            time.sleep(0.5)

    def once(self, method, path, body=None, version=None, key=None, timeout=60, token=None):
        """One try, with the token as it is when one is given."""
        headers = {"Authorization": f"Bearer {token or self.token()}", "Accept": "application/json, */*;q=0.5"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        if version is not None:
            headers["If-Match"] = f'"{version}"'
        if method == "POST":
            headers["Idempotency-Key"] = key or str(uuid.uuid4())
        answer = request(self.url + path, method, data, headers, timeout)
        if answer.status == 500 and self._journal is not None:
            self._journal.note("answer-500", method=method, path=path, body=answer.text()[:400])
        return answer

    def call(self, method, path, body=None, version=None, key=None, patience=600):
        """Repeats, with one key, until there is an answer that is the service's last word."""
        key = key or str(uuid.uuid4())
        end = time.monotonic() + patience
        while True:
            try:
                answer = self.once(method, path, body, version, key)
                if answer.status == 401:
                    # A service that has just started may not have the realm's keys; a token may have just expired.
                    self._until = 0.0
                elif answer.status not in AWAY and answer.status != 500:
                    return answer
                problem = f"{answer.status} {answer.text()[:200]}"
            except (OSError, http.client.HTTPException) as e:
                problem = repr(e)
            if time.monotonic() > end:
                raise NoAnswer(f"{method} {path}: {problem}")
            time.sleep(0.3)

    def require(self, method, path, body=None, version=None, key=None, patience=600):
        """As call; returns the document of a success, and raises what was refused."""
        answer = self.call(method, path, body, version, key, patience)
        if not answer.ok:
            raise Refused(method, path, answer)
        return answer.json()

    def get(self, path):
        return self.require("GET", path)

    def pages(self, path):
        """All items of a list."""
        token = None
        while True:
            page = self.get(path if token is None else f"{path}&pageToken={urllib.parse.quote(token)}")
            yield from page["items"]
            token = page.get("nextPageToken")
            if not token:
                return
