"""The choice of server and tenant: from variables, and from the contexts that `qm context` writes."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from .errors import ConfigurationError

_ENTRY = re.compile(r"^( *)((?:'[^']*')|(?:\"[^\"]*\")|[^\s'\"#:][^:]*): ?(.*)$")


@dataclass(frozen=True)
class Target:
    """A server and a tenant."""

    server: str
    tenant: str


@dataclass(frozen=True)
class Contexts:
    """The contexts of a person, by name."""

    current: str | None = None
    by_name: Mapping[str, Target] = field(default_factory=dict)


def config_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the files of `qm`. A relative XDG_CONFIG_HOME is ignored, as its specification states."""
    given = environment.get("XDG_CONFIG_HOME", "")
    base = Path(given) if given and os.path.isabs(given) else Path(environment.get("HOME") or Path.home()) / ".config"
    return base / "qm"


def resolve(environment: Mapping[str, str], context: str | None = None) -> Target:
    """The target of a program, as `qm` chooses it: with a context, the variables choose nothing."""
    variables = environment if context is None else {}
    server, tenant = variables.get("QM_SERVER", "").strip(), variables.get("QM_TENANT", "").strip()
    wanted = context or variables.get("QM_CONTEXT", "").strip()
    base: Target | None = None
    if wanted or not (server and tenant):
        contexts = read_contexts(config_folder(environment) / "config.yaml")
        name = wanted or contexts.current
        base = contexts.by_name.get(name) if name else None
        if wanted and base is None:
            known = ", ".join(sorted(contexts.by_name)) or "none"
            raise ConfigurationError(f"there is no context {wanted}; known contexts: {known}")
    if not server:
        server = base.server if base else _missing("server", "QM_SERVER")
    if not tenant:
        tenant = base.tenant if base else _missing("tenant", "QM_TENANT")
    return Target(server_address(server), tenant)


def server_address(text: str) -> str:
    """An address without a slash at its end."""
    parts = urlsplit(text)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigurationError(f'"{text}" is not the address of a server, such as https://qm.example.org')
    return text.removesuffix("/")


def require_encryption(server: str, address: str) -> None:
    """Secrets for a server with encryption go to no address without."""
    if server.lower().startswith("https://") and not address.lower().startswith("https://"):
        raise ConfigurationError(f"{server} is encrypted, but its sign-in is at {address}, which is not")


def read_contexts(file: Path) -> Contexts:
    """Reads the form of YAML that `qm` writes: nested mappings of plain or quoted words."""
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return Contexts()
    current: str | None = None
    found: dict[str, dict[str, str]] = {}
    section = name = ""
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        entry = _ENTRY.match(line)
        if entry is None:
            raise _unreadable(file, number)
        depth, key, value = len(entry[1]), _word(entry[2]), _word(entry[3].strip())
        if depth == 0:
            section = key
            if key == "current":
                current = value
            elif key != "contexts" or value not in ("", "{}"):
                raise _unreadable(file, number)
        elif depth == 2 and section == "contexts" and not value:
            name = key
            found[name] = {}
        elif depth == 4 and name and key in ("server", "tenant"):
            found[name][key] = value
        else:
            raise _unreadable(file, number)
    incomplete = [each for each, parts in found.items() if len(parts) < 2]
    if incomplete:
        raise ConfigurationError(f"{file}: context {incomplete[0]} needs a server and a tenant")
    return Contexts(current, {each: Target(server_address(p["server"]), p["tenant"]) for each, p in found.items()})


def _word(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        return str(json.loads(text))
    return text


def _unreadable(file: Path, line: int) -> ConfigurationError:
    return ConfigurationError(
        f"{file}, line {line}: this client reads only the form that qm writes. Set QM_SERVER and QM_TENANT instead"
    )


def _missing(what: str, variable: str) -> str:
    raise ConfigurationError(f"no {what} is chosen: set {variable}, or add a context with qm context add")
