"""
Generates the package `quartermaster.generated` from the API contract. The build of the wheel does so by itself; run it
to work on the sources without a build.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
CONTRACT = HERE.parents[1] / "openapi" / "openapi.yaml"
PACKAGE = HERE / "src" / "quartermaster" / "generated"


def generate(package: Path) -> None:
    """Replaces the package in a folder. Raises RuntimeError if the generator cannot use a part of the contract."""
    shutil.rmtree(package, ignore_errors=True)
    _run(
        *("openapi_python_client", "generate", "--fail-on-warning"),
        *("--path", str(CONTRACT), "--config", str(HERE / "generator.yaml"), "--meta", "none"),
        *("--custom-template-path", str(HERE / "templates"), "--output-path", str(package)),
    )
    for module in package.rglob("*.py"):
        if module.name != "__init__.py" and not module.read_text(encoding="utf-8").strip():
            module.unlink()  # A stream of events, which handwritten modules read.
    ruff = ("--isolated", "--quiet", "--line-length=120", str(package))
    _run("ruff", "check", "--fix", "--select=F401,F811,I001", *ruff)
    _run("ruff", "format", *ruff)


def _run(*module: str) -> None:
    ended = subprocess.run([sys.executable, "-m", *module], capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        raise RuntimeError(f"{module[0]} fails:\n{ended.stdout}{ended.stderr}")


if __name__ == "__main__":
    generate(PACKAGE)
