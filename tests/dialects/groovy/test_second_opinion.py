"""Groovy itself, asked for the value of every script: is the table of expected values right?

Needs a command that runs a Groovy file, such as `groovy`, in PERDURE_GROOVY. The tables were filled with Groovy 2.4.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.dialects.groovy.case import Case
from tests.dialects.groovy.cases_differences import DIFFERENCES
from tests.dialects.groovy.running import same
from tests.dialects.groovy.test_any_text import CASES

COMMAND = os.environ.get("PERDURE_GROOVY")


@pytest.mark.slow
@pytest.mark.skipif(not COMMAND, reason="PERDURE_GROOVY names no command that runs Groovy")
def test_groovy_gives_the_same(tmp_path: Path) -> None:
    cases: list[Case] = [*CASES, *[case for cases in DIFFERENCES.values() for case in cases]]
    asked = [case for case in cases if case.ours is None]
    questions, answers = tmp_path / "questions.json", tmp_path / "answers.json"
    questions.write_text(json.dumps([{"script": case.script, "given": case.given} for case in asked]))
    script = Path(__file__).parent / "second_opinion.groovy"
    command = [*shlex.split(COMMAND or ""), str(script), str(questions), str(answers)]
    subprocess.run(command, check=True, timeout=110, capture_output=True, env={**os.environ, "TZ": "UTC"})
    different = []
    for case, answer in zip(asked, json.loads(answers.read_text()), strict=True):
        agreed = answer.get("error") == case.fails if case.fails else same(answer.get("value"), case.value)
        if not agreed or ("error" in answer) != (case.fails is not None):
            different.append((case.script, case.fails or case.value, answer))
    assert not different
