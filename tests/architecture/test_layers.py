"""The import contracts of pyproject.toml, proven to bite.

Each test builds a skeleton of the package (one empty module for each one that the contracts name), plants one
import or one stray module in it, and runs the real linter with the real contracts on the skeleton.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from itertools import pairwise
from pathlib import Path

import pytest

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
CONTRACTS = {
    contract["id"]: contract for contract in tomllib.loads(PYPROJECT.read_text())["tool"]["importlinter"]["contracts"]
}
LAYERS = [re.split(r" [|:] ", layer) for layer in CONTRACTS["layers"]["layers"]]
RUN_LINTER = "from importlinter.cli import lint_imports_command as main; main()"


class Skeleton:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        shutil.copy(PYPROJECT, directory)
        self.write("perdure", "")
        for layer in LAYERS:
            for name in layer:
                self.write(f"perdure.{name}", "")
        for contract in ("programs", "stores"):
            for module in CONTRACTS[contract]["modules"]:
                self.write(module, "")

    def write(self, module: str, source: str) -> None:
        """Every module is a package, so that it may have children."""
        path = self.directory.joinpath(*module.split("."))
        path.mkdir(parents=True, exist_ok=True)
        (path / "__init__.py").write_text(source)

    def lint(self) -> tuple[bool, str]:
        done = subprocess.run(
            [sys.executable, "-c", RUN_LINTER, "--no-cache", "--no-logo"],
            cwd=self.directory,
            env={**os.environ, "PYTHONPATH": str(self.directory), "COLUMNS": "200", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def skeleton(tmp_path: Path) -> Skeleton:
    return Skeleton(tmp_path)


def test_an_orderly_package_passes(skeleton: Skeleton) -> None:
    skeleton.write("perdure", "from perdure.assembly import Perdure\nfrom perdure.authoring import workflow")
    skeleton.write("perdure.kernel", "import perdure.model\nimport dataclasses")
    skeleton.write("perdure.engine", "import asyncio\nimport perdure.kernel, perdure.ports, perdure.programs.flow")
    skeleton.write("perdure.stores.sqlite", "import apsw\nimport perdure.ports")
    skeleton.write("perdure.cli", "import perdure.api, perdure.assembly, perdure.testing")
    passed, report = skeleton.lint()
    assert passed, report


def test_the_layers_are_those_of_the_design() -> None:
    upwards = " ".join(" ".join(layer) for layer in reversed(LAYERS))
    assert upwards == (
        "errors settings model kernel expressions programs dialects authoring ports stores engine temporal nodes "
        "bridges observe service client assembly api cli testing"
    )


@pytest.mark.parametrize(
    ("importer", "imported"),
    [(lower[0], higher[0]) for higher, lower in pairwise(LAYERS)],
)
def test_no_layer_may_import_the_one_above_it(skeleton: Skeleton, importer: str, imported: str) -> None:
    skeleton.write(f"perdure.{importer}", f"import perdure.{imported}")
    passed, report = skeleton.lint()
    assert not passed
    assert f"perdure.{importer} -> perdure.{imported}" in report


@pytest.mark.parametrize(
    ("contract", "module", "source"),
    [
        ("layers", "perdure.kernel", "from perdure import engine"),
        ("layers", "perdure.model.deep.inside", "def later():\n    import perdure.service"),
        ("layers", "perdure.engine", "import perdure.temporal"),
        (
            "layers",
            "perdure.temporal",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import perdure.engine",
        ),
        ("programs", "perdure.programs.flow", "import perdure.programs.lifecycle"),
        ("stores", "perdure.stores.postgres.claims", "import perdure.stores.sqlite"),
        ("purity", "perdure.kernel.decide", "import time"),
        ("purity", "perdure.programs.code", "import asyncio.tasks"),
        ("drivers", "perdure.service.runs", "import asyncpg"),
    ],
)
def test_an_offending_import_is_refused(skeleton: Skeleton, contract: str, module: str, source: str) -> None:
    parts = module.split(".")
    for length in range(2, len(parts)):
        skeleton.write(".".join(parts[:length]), "")
    skeleton.write(module, source)
    passed, report = skeleton.lint()
    assert not passed
    assert f"{CONTRACTS[contract]['name']} BROKEN" in report
    assert report.count("BROKEN") == 1, report


def test_purity_looks_through_other_modules(skeleton: Skeleton) -> None:
    skeleton.write("perdure.settings", "import os")
    skeleton.write("perdure.model", "import perdure.settings")
    passed, report = skeleton.lint()
    assert not passed
    assert f"{CONTRACTS['purity']['name']} BROKEN" in report


def test_the_front_door_may_import_every_layer_but_no_layer_may_come_in_by_it(skeleton: Skeleton) -> None:
    skeleton.write("perdure", "from perdure import assembly")
    skeleton.write("perdure.nodes", "import perdure")
    passed, report = skeleton.lint()
    assert not passed
    assert f"{CONTRACTS['layers']['name']} BROKEN" in report


def test_a_stray_package_is_refused(skeleton: Skeleton) -> None:
    skeleton.write("perdure.plugins", "")
    passed, report = skeleton.lint()
    assert not passed
    assert "plugins" in report


@pytest.mark.parametrize("call", ["datetime.datetime.now(datetime.UTC)", "datetime.date.today()"])
def test_the_pure_layers_may_not_ask_for_the_time(skeleton: Skeleton, call: str) -> None:
    source = f'"""A module."""\n\nimport datetime\n\nWHEN = {call}\n'
    for module in ("src/perdure/kernel/decide.py", "src/perdure/engine/decide.py"):
        path = skeleton.directory / module
        path.parent.mkdir(parents=True)
        path.write_text(source)
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--output-format", "concise", "src"],
        cwd=skeleton.directory,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "src/perdure/kernel/decide.py:5" in done.stdout
    assert "engine" not in done.stdout
