"""B09: scripts that try to get out, to last for ever or to take everything. None has an effect on the host, each ends
in its time, and the next script works."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perdure.nodes.scripts import check_script
from tests.nodes.scripts.escape_watch import CANARY, MOST_RESIDENT, SECONDS, read_scripts

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="reads /proc"),
    pytest.mark.xdist_group("script-escapes"),
]

HERE = Path(__file__).parent
ROOT = HERE.parents[2]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """What all of them came to, in a process of its own whose directory, environment and network are looked at."""
    place = tmp_path_factory.mktemp("cage")
    (place / "canary.txt").write_text(CANARY)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PERDURE_SECRET_CANARY": CANARY}
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        done = subprocess.run(
            [sys.executable, HERE / "escape_watch.py", str(server.getsockname()[1])],
            cwd=place,
            env=environment,
            capture_output=True,
            text=True,
            timeout=110,
            check=True,
        )
        with pytest.raises(BlockingIOError):
            server.accept()
    assert [each.name for each in place.iterdir()] == ["canary.txt"]
    assert CANARY not in done.stdout
    assert "root:" not in done.stdout
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_the_corpus_is_large() -> None:
    assert len(set(read_scripts())) >= 200


def test_no_script_has_an_effect_on_the_host(report: list[dict[str, Any]]) -> None:
    assert len(report) == len(read_scripts())
    for each in report:
        assert each.get("acts", []) == [], each
        assert each.get("files", ["canary.txt"]) == ["canary.txt"], each
        assert each.get("processes", 0) <= 1, each


def test_each_ends_in_its_time_and_with_a_code(report: list[dict[str, Any]]) -> None:
    for each in report:
        assert "raised" not in each, each
        assert each.get("took", 0.0) <= SECONDS + 1.0, each
        assert "value" in each or each["code"].startswith("SCRIPT_"), each
        assert "Traceback" not in each.get("message", ""), each


def test_each_takes_no_more_memory_than_it_may(report: list[dict[str, Any]]) -> None:
    for each in report:
        assert each.get("resident", 0) <= MOST_RESIDENT, each


def test_the_next_script_works(report: list[dict[str, Any]]) -> None:
    assert {each.get("next", 2) for each in report} == {2}


def test_whoever_wants_out_is_refused_at_save() -> None:
    words = ("import os\n", "import socket", "import ctypes", "\nopen('/etc", "().__class__")
    outwards = [source for source in read_scripts() if any(word in source for word in words)]
    assert len(outwards) >= 20
    for source in outwards:
        assert check_script(source, "python")[0] is None, source
