"""The command line as somebody at a terminal meets it: what it prints, and with which status it ends."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FLOW: dict[str, Any] = {
    "id": "sum",
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "large", "type": "conditional", "config": {"condition": "${input.n > 10}"}},
        {"id": "ask", "type": "wait-for-signal", "config": {"name": "approval"}},
        {"id": "double", "type": "set", "config": {"vars": {"twice": "${input.n * 2}"}}},
        {"id": "end", "type": "end", "config": {"output": "${vars.twice}"}},
    ],
    "edges": [
        {"source": "start", "target": "large"},
        {"source": "large", "target": "ask", "outcome": "true"},
        {"source": "large", "target": "double", "outcome": "false"},
        {"source": "ask", "target": "double"},
        {"source": "double", "target": "end"},
    ],
}


@pytest.fixture
def perdure(tmp_path: Path) -> Any:
    (tmp_path / "flow.json").write_text(json.dumps(FLOW))

    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "perdure.cli.main", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=60)

    return call


def test_run_prints_the_result_as_json_and_ends_with_0(perdure: Any) -> None:
    done = perdure("run", "flow.json", "--input", '{"n": 4}')
    assert (done.returncode, json.loads(done.stdout)) == (0, 8)


def test_run_stops_at_a_question_with_3_and_goes_on_with_resume(perdure: Any, tmp_path: Path) -> None:
    asked = perdure("run", "flow.json", "--input", '{"n": 40}')
    assert asked.returncode == 3
    assert "waits for the signal 'approval'" in asked.stderr
    (tmp_path / "answers.json").write_text('{"approval": {"ok": true}}')
    done = perdure("run", "--resume", asked.stdout.strip(), "--answers", "answers.json")
    assert (done.returncode, json.loads(done.stdout)) == (0, 80)


PERSON: dict[str, Any] = {
    "id": "person",
    "nodes": [
        {"id": "start", "type": "start"},
        {"id": "ask", "type": "approval", "config": {"title": "Go on?"}},
        {"id": "again", "type": "approval", "config": {"title": "Really?", "comment": "required"}},
        {"id": "end", "type": "end", "config": {"output": "${_global.comment}"}},
    ],
    "edges": [
        {"source": "start", "target": "ask"},
        {"source": "ask", "target": "again", "outcome": "approved"},
        {"source": "again", "target": "end"},
    ],
}


def test_run_stops_at_a_person_with_3_and_goes_on_with_the_answers(perdure: Any, tmp_path: Path) -> None:
    (tmp_path / "person.json").write_text(json.dumps(PERSON))
    (tmp_path / "first.json").write_text('{"ask": {"decision": "approve"}}')
    asked = perdure("run", "person.json", "--answers", "first.json")
    assert asked.returncode == 3
    assert "again waits for an answer to 'Really?'" in asked.stderr
    (tmp_path / "bad.json").write_text('{"again": {"decision": "approve"}}')
    refused = perdure("run", "--resume", asked.stdout.strip(), "--answers", "bad.json")
    assert (refused.returncode, refused.stdout) == (3, asked.stdout)
    assert "'comment' is required" in refused.stderr
    assert "answer 1 for 'again' was refused" in refused.stderr
    assert f"perdure run --resume {asked.stdout.strip()}" in refused.stderr
    (tmp_path / "good.json").write_text('{"again": [{"selectedOptions": {"decision": "approve", "comment": "yes!"}}]}')
    done = perdure("run", "--resume", asked.stdout.strip(), "--answers", "good.json")
    assert (done.returncode, json.loads(done.stdout)) == (0, "yes!")


def test_run_takes_answers_at_once(perdure: Any, tmp_path: Path) -> None:
    (tmp_path / "answers.json").write_text('{"approval": [{"ok": true}]}')
    done = perdure("run", "flow.json", "--input", '{"n": 40}', "--answers", "answers.json")
    assert (done.returncode, json.loads(done.stdout)) == (0, 80)


def test_answers_may_stand_in_the_command_and_those_that_nobody_wants_are_named(perdure: Any) -> None:
    done = perdure("run", "flow.json", "--input", '{"n": 40}', "--answers", '{"approval": 1, "aproval": 2}')
    assert (done.returncode, json.loads(done.stdout)) == (0, 80)
    assert done.stderr == "warning: there are answers for 'aproval', which was never asked\n"
    (at, broken) = perdure("run", "flow.json", "--answers", "@no.json"), perdure("run", "flow.json", "--answers", "{")
    assert (at.returncode, broken.returncode) == (2, 2)
    assert "no.json" in at.stderr
    assert "--answers is not JSON: " in broken.stderr
    assert broken.stderr.count("not JSON") == 1


def test_a_run_in_memory_is_not_said_to_go_on(perdure: Any) -> None:
    asked = perdure("run", "flow.json", "--input", '{"n": 40}', "--database", "memory://")
    assert asked.returncode == 3
    assert "--resume" not in asked.stderr
    assert "memory:// keeps nothing" in asked.stderr


@pytest.mark.parametrize(
    ("database", "told"), [("sqlite:///perdure.db", "go on with: perdure run --resume"), ("memory://", "is gone")]
)
def test_a_run_that_is_interrupted_says_how_to_go_on(perdure: Any, tmp_path: Path, database: str, told: str) -> None:
    sleep = {"id": "sleep", "type": "sleep", "config": {"duration": "1h"}}
    flow = {"nodes": [{"id": "start", "type": "start"}, sleep], "edges": [{"source": "start", "target": "sleep"}]}
    (tmp_path / "long.json").write_text(json.dumps(flow))
    command = [sys.executable, "-m", "perdure.cli.main", "run", "long.json", "--database", database]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        assert "sleep" in process.stderr.readline()  # why it is not further on
        process.send_signal(signal.SIGINT)
        said = process.stderr.read()
    assert process.returncode == 130
    assert told in said


def test_a_failed_run_is_taken_up_again_with_retry(perdure: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def late():\n    return open('there').read()\n")
    step = {"id": "s", "type": "python", "config": {"step": "late"}}
    flow = {"nodes": [{"id": "start", "type": "start"}, step], "edges": [{"source": "start", "target": "s"}]}
    (tmp_path / "late.json").write_text(json.dumps(flow))
    failed = perdure("run", "late.json", "--app", "mine:late")
    assert failed.returncode == 1
    id = json.loads(failed.stdout)["run"]
    again = perdure("run", "--resume", id, "--app", "mine:late")
    assert again.returncode == 1
    assert f"perdure retry {id}" in again.stderr
    assert perdure("retry", id, "--app", "mine:late").returncode == 1
    (tmp_path / "there").write_text("now")
    done = perdure("retry", id, "--app", "mine:late")
    assert (done.returncode, json.loads(done.stdout)) == (0, "now")
    assert perdure("retry", id).returncode == 2


@pytest.fixture
def family(perdure: Any, tmp_path: Path) -> Any:
    """parent.json, which waits for a child that asks."""
    ask = {"id": "ask", "type": "wait-for-signal", "config": {"name": "approval"}}
    child = {"id": "child", "nodes": [{"id": "start", "type": "start"}, ask]}
    child["edges"] = [{"source": "start", "target": "ask"}]
    sub = {"id": "sub", "type": "sub-flow", "config": {"definition": "child"}}
    parent = {"id": "parent", "nodes": [{"id": "start", "type": "start"}, sub]}
    parent["edges"] = [{"source": "start", "target": "sub"}]
    (tmp_path / "child.json").write_text(json.dumps(child))
    (tmp_path / "parent.json").write_text(json.dumps(parent))
    (tmp_path / "answers.json").write_text('{"approval": {"ok": true}}')
    assert perdure("run", "child.json", "--answers", "answers.json").returncode == 0
    return perdure


def test_run_stops_at_the_question_of_a_child_and_goes_on_with_resume(family: Any) -> None:
    asked = family("run", "parent.json")
    assert asked.returncode == 3
    assert re.search(r"sub waits for the child run (\S+)\nrun \1: ask waits for the signal 'approval'", asked.stderr)
    done = family("run", "--resume", asked.stdout.strip(), "--answers", "answers.json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"ok": True})


def test_answers_reach_a_child(family: Any) -> None:
    done = family("run", "parent.json", "--answers", "answers.json")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"ok": True})


def test_the_answer_to_a_child_lets_its_parent_go_on(family: Any) -> None:
    asked = family("run", "parent.json")
    child = re.search(r"run (\S+): ask", asked.stderr)
    assert child is not None
    assert family("run", "--resume", child[1], "--answers", "answers.json").returncode == 0
    done = family("run", "--resume", asked.stdout.strip())
    assert (done.returncode, json.loads(done.stdout)) == (0, {"ok": True})


def test_a_run_that_fails_ends_with_1_and_says_why(perdure: Any) -> None:
    done = perdure("run", "flow.json", "--input", '{"n": "many"}')
    assert done.returncode == 1
    assert json.loads(done.stdout)["failure"]["code"] == "EXPRESSION_FAILED"
    assert "EXPRESSION_FAILED" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["run", "missing.json"], "missing.json"),
        (["run", "flow.json", "--input", "{"], "--input is not JSON"),
        (["run"], "name a FILE"),
        (["run", "--resume", "nobody", "--input", "1"], "--input is for a run that begins"),
        (["run", "--resume", "nobody"], "nobody"),
        (["run", "flow.json", "--database", "oracle://x"], "sqlite:///file.db"),
        (["run", "flow.json", "--app", "no.such:thing"], "no.such"),
    ],
)
def test_wrong_use_ends_with_2_and_one_clear_sentence(perdure: Any, arguments: list[str], told: str) -> None:
    done = perdure(*arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_steps_come_from_the_users_own_module(perdure: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def triple(n):\n    return n * 3\n")
    step = {"id": "s", "type": "python", "config": {"step": "triple", "arguments": {"n": "${input.n}"}}}
    flow = {"nodes": [{"id": "start", "type": "start"}, step], "edges": [{"source": "start", "target": "s"}]}
    (tmp_path / "three.json").write_text(json.dumps(flow))
    done = perdure("run", "three.json", "--input", '{"n": 5}', "--app", "mine:triple")
    assert (done.returncode, done.stdout.strip()) == (0, "15")


def test_run_stops_with_3_where_nobody_has_a_step_and_goes_on_where_somebody_has(perdure: Any, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def triple(n):\n    return n * 3\n")
    step = {"id": "s", "type": "python", "config": {"step": "triple", "arguments": {"n": "${input.n}"}}}
    flow = {"nodes": [{"id": "start", "type": "start"}, step], "edges": [{"source": "start", "target": "s"}]}
    (tmp_path / "three.json").write_text(json.dumps(flow))
    call = {"id": "call", "type": "sub-flow", "config": {"definition": "three", "input": "${input}"}}
    parent = {"nodes": [{"id": "start", "type": "start"}, call], "edges": [{"source": "start", "target": "call"}]}
    (tmp_path / "parent.json").write_text(json.dumps(parent))
    for file in ("three.json", "parent.json"):
        stuck = perdure("run", file, "--input", '{"n": 5}')
        assert stuck.returncode == 3
        assert "no worker that is running has the step 'triple'" in stuck.stderr
        done = perdure("run", "--resume", stuck.stdout.strip(), "--app", "mine:triple")
        assert (done.returncode, done.stdout.strip()) == (0, "15")


def test_validate_names_every_mistake_with_its_place(perdure: Any, tmp_path: Path) -> None:
    wrong = {"nodes": [{"id": "a", "type": "nonsense"}], "edges": [{"source": "a", "target": "b"}]}
    (tmp_path / "wrong.json").write_text(json.dumps(wrong))
    done = perdure("validate", "flow.json", "wrong.json", "--json")
    good, bad = json.loads(done.stdout)
    assert done.returncode == 1
    assert good["problems"] == []
    assert {"NODE_TYPE_UNKNOWN", "EDGE_DANGLING"} == {problem["code"] for problem in bad["problems"]}
    assert all(problem["pointer"] is not None for problem in bad["problems"])
    assert perdure("validate", "flow.json").returncode == 0


def test_run_tells_the_warnings_of_a_document(perdure: Any, tmp_path: Path) -> None:
    start = {"id": "start", "type": "start", "at_most_once": True}
    (tmp_path / "odd.json").write_text(json.dumps({"id": "odd", "nodes": [start]}))
    done = perdure("run", "odd.json")
    assert done.returncode == 0
    assert "odd: /nodes/0/at_most_once: NO_EFFECT: " in done.stderr


def test_fsck_finds_a_sound_database_sound_and_a_forged_one_not(perdure: Any, tmp_path: Path) -> None:
    perdure("run", "flow.json", "--input", '{"n": 4}')
    sound = perdure("fsck")
    assert sound.returncode == 0, sound.stdout + sound.stderr
    assert "sound" in sound.stdout
    import apsw

    connection = apsw.Connection(str(tmp_path / "perdure.db"))
    connection.execute("update runs set status = 'RUNNING'")
    connection.close()
    forged = perdure("fsck", "--json")
    assert forged.returncode == 1
    assert json.loads(forged.stdout)["findings"][0]["invariant"] == 2


def test_dev_refuses_to_listen_where_others_could_reach_it(perdure: Any) -> None:
    done = perdure("dev", "--host", "0.0.0.0")
    assert done.returncode == 2
    assert "no login" in done.stderr


def test_a_run_that_cannot_begin_makes_no_database(perdure: Any, tmp_path: Path) -> None:
    for arguments in (("nowhere.json",), ("flow.json", "--input", "NaN"), ("flow.json", "--input", "{")):
        done = perdure("run", *arguments)
        assert done.returncode == 2
        assert "INVALID_INPUT" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["flow.json"]


def test_the_input_of_a_run_is_any_json_value(perdure: Any, tmp_path: Path) -> None:
    flow = {"id": "same", "nodes": [{"id": "start", "type": "start"}]}
    (tmp_path / "same.json").write_text(json.dumps(flow))
    (tmp_path / "list.json").write_text("[1, 2]")
    for given, comes_out in (("[1]", [1]), ("7", 7), ("null", None), ("@list.json", [1, 2])):
        done = perdure("run", "same.json", "--input", given)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == comes_out


def test_settings_that_make_no_sense_are_named(perdure: Any, tmp_path: Path) -> None:
    (tmp_path / "perdure.toml").write_text('port = "eight"\n')
    done = perdure("fsck")
    assert done.returncode == 2
    assert "perdure.toml" in done.stderr
    (tmp_path / "perdure.toml").write_text('database_url = "sqlite:///${NOWHERE_SET}.db"\n')
    done = perdure("fsck")
    assert done.returncode == 2
    assert "NOWHERE_SET" in done.stderr
