"""The choice of server and tenant, and the ways to sign in."""

import json
import os
import tempfile
import time
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from quartermaster import Client, ConfigurationError, NotSignedIn
from quartermaster.settings import Target, resolve

from .service import Answer, Service, problem

QUEUES = "/v1/tenants/acme/queues"
CONFIG = """\
current: demo
contexts:
  demo:
    server: {server}
    tenant: acme
  'on':
    server: "https://qm.example.org"
    tenant: globex
"""


class FolderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.service = self.enterContext(Service())
        self.service.on("GET", QUEUES, Answer(body={"items": []}))
        home = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.folder = home / "qm"
        self.folder.mkdir()
        self.environment = {"XDG_CONFIG_HOME": str(home)}
        (self.folder / "config.yaml").write_text(CONFIG.format(server=self.service.url))

    def client(self, context: str | None = None, **variables: str) -> Client:
        with mock.patch.dict(os.environ, self.environment | variables, clear=True):
            return self.enterContext(Client.from_environment(context, retry_for=0))

    def tokens_of_last_request(self) -> str:
        return self.service.requests("GET", QUEUES)[-1].headers["authorization"]


class TargetTest(FolderTest):
    def test_the_current_context_counts_unless_variables_name_another(self) -> None:
        self.assertEqual(resolve(self.environment), Target(self.service.url, "acme"))
        self.assertEqual(resolve(self.environment | {"QM_CONTEXT": "on"}), Target("https://qm.example.org", "globex"))
        self.assertEqual(resolve(self.environment | {"QM_TENANT": "other"}), Target(self.service.url, "other"))

    def test_a_given_context_goes_before_variables(self) -> None:
        variables = {"QM_SERVER": "http://127.0.0.1:1", "QM_TENANT": "other"}

        self.assertEqual(resolve(self.environment | variables, "on"), Target("https://qm.example.org", "globex"))

    def test_variables_need_no_file(self) -> None:
        variables = {"HOME": "/nonexistent", "QM_SERVER": "https://qm.example.org/", "QM_TENANT": "acme"}

        self.assertEqual(resolve(variables), Target("https://qm.example.org", "acme"))

    def test_what_is_missing_or_unknown_is_named(self) -> None:
        for variables, context, message in (
            ({"HOME": "/nonexistent"}, None, "QM_SERVER"),
            (self.environment, "off", "known contexts: demo, on"),
            ({"QM_SERVER": "qm.example.org", "QM_TENANT": "acme"}, None, "not the address"),
        ):
            with self.subTest(message), self.assertRaisesRegex(ConfigurationError, message):
                resolve(variables, context)

    def test_a_file_of_another_form_is_refused_and_not_misread(self) -> None:
        for text in ("contexts: {demo: {server: a, tenant: b}}\n", "contexts:\n  demo: &a\n", "- a\n"):
            (self.folder / "config.yaml").write_text(text)
            with self.subTest(text), self.assertRaisesRegex(ConfigurationError, "config.yaml"):
                resolve(self.environment)


class SecretTest(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        realm = f"{self.service.url}/realms/acme"
        self.service.on("GET", "/v1/sign-in/acme", Answer(body={"issuer": realm, "clientId": "qm-cli"}))
        described = Answer(body={"issuer": realm, "token_endpoint": f"{realm}/token"})
        self.service.on("GET", "/realms/acme/.well-known/openid-configuration", described)

    def answers(self, *answers: Answer) -> None:
        self.service.on("POST", "/realms/acme/token", *answers)

    def test_a_program_signs_in_once_and_again_before_its_token_ends(self) -> None:
        def token(name: str, seconds: int) -> Answer:
            return Answer(body={"access_token": name, "expires_in": seconds})

        self.answers(token("first", 300), token("second", 10), token("third", 300))
        client = self.client(QM_CLIENT_SECRET="s3cret")

        seen = []
        for refuses in (False, False, True, False):
            if refuses:
                self.service.on("GET", QUEUES, problem(401, "unauthenticated"), Answer(body={"items": []}))
            client.http.get(QUEUES)
            seen.append(self.tokens_of_last_request())

        self.assertEqual(seen, ["Bearer first", "Bearer first", "Bearer second", "Bearer third"])
        asked = self.service.requests("POST", "/realms/acme/token")[0].body.decode()
        self.assertIn("grant_type=client_credentials&client_id=automation&client_secret=s3cret", asked)

    def test_a_wrong_secret_is_no_outage(self) -> None:
        self.answers(Answer(401, {"error": "invalid_client"}))

        with self.assertRaises(NotSignedIn):
            self.client(QM_CLIENT_SECRET="wrong").http.get(QUEUES)

    def test_a_secret_of_an_encrypted_server_goes_to_no_plain_address(self) -> None:
        from quartermaster.settings import require_encryption

        with self.assertRaisesRegex(ConfigurationError, "is not"):
            require_encryption("https://qm.example.org", "http://login.example.org/token")


class TokenTest(FolderTest):
    def test_a_given_token_is_used_and_not_renewed(self) -> None:
        client = self.client(QM_TOKEN="given")
        client.http.get(QUEUES)
        self.assertEqual(self.tokens_of_last_request(), "Bearer given")

        self.service.on("GET", QUEUES, problem(401, "unauthenticated"))
        with self.assertRaisesRegex(NotSignedIn, "expired"):
            client.http.get(QUEUES)


class SavedLoginTest(FolderTest):
    def save(self, mode: int = 0o600, **fields: Any) -> Path:
        login = {
            "issuer": f"{self.service.url}/realms/acme",
            "tokenEndpoint": f"{self.service.url}/token",
            "clientId": "qm-cli",
            "accessToken": "saved",
            "expiresAt": int(time.time()) + 300,
            "refreshToken": "r1",
            **fields,
        }
        file = self.folder / "tokens.json"
        file.write_text(json.dumps({f"{self.service.url} acme": login, "https://other acme": {"kept": True}}))
        file.chmod(mode)
        return file

    def test_the_login_of_the_command_line_is_used(self) -> None:
        self.save()

        self.client().http.get(QUEUES)

        self.assertEqual(self.tokens_of_last_request(), "Bearer saved")

    def test_it_is_renewed_in_the_file_so_that_the_command_line_stays_signed_in(self) -> None:
        file = self.save(expiresAt=0)
        answer = {"access_token": "new", "expires_in": 300, "refresh_token": "r2"}
        self.service.on("POST", "/token", Answer(body=answer))

        self.client().http.get(QUEUES)

        self.assertEqual(self.tokens_of_last_request(), "Bearer new")
        self.assertIn(b"refresh_token=r1", self.service.requests("POST", "/token")[0].body)
        logins = json.loads(file.read_text())
        login = logins[f"{self.service.url} acme"]
        self.assertEqual((login["accessToken"], login["refreshToken"]), ("new", "r2"))
        self.assertGreater(login["expiresAt"], time.time() + 200)
        self.assertEqual(logins["https://other acme"], {"kept": True})
        self.assertEqual(file.stat().st_mode & 0o777, 0o600)

    def test_a_login_that_has_ended_asks_for_qm_login(self) -> None:
        self.save(expiresAt=0)
        self.service.on("POST", "/token", Answer(400, {"error": "invalid_grant"}))

        with self.assertRaisesRegex(NotSignedIn, "qm login"):
            self.client().http.get(QUEUES)

    def test_tokens_that_others_may_read_are_refused(self) -> None:
        self.save(mode=0o644)

        with self.assertRaisesRegex(ConfigurationError, "chmod 600"):
            self.client().http.get(QUEUES)
        self.assertEqual(self.service.received, [])
