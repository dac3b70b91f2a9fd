"""The step of the build that generates the part of the package that follows the contract."""

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).parent))

from generate import generate


class GeneratedPackage(BuildHookInterface[Any]):
    """Generates `quartermaster.generated` in a folder of its own, and adds it to the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        package = Path(self._folder.name) / "generated"
        generate(package)
        build_data["force_include"][str(package)] = "quartermaster/generated"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        self._folder.cleanup()
