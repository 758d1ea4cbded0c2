"""Scripts in their workers: failures and their codes, limits, workers that die, and the same again."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from perdure.engine.handlers import ActivationError
from perdure.nodes.scripts import ScriptLimits, Scripts, compile_script
from perdure.nodes.scripts.pool import ScriptSettings
from tests.nodes.scripts.conftest import NOW, Run

pytestmark = pytest.mark.asyncio(loop_scope="module")

FAILURES: list[tuple[str, str, str, str, dict[str, Any]]] = [
    ("python", "x = 1\n1 / 0", "SCRIPT_RUNTIME", "line 2: ZeroDivisionError: division by zero",
     {"line": 2, "exception": "ZeroDivisionError"}),
    ("python", "def f(x):\n    return x.y.z\n\nf({'y': 1})", "SCRIPT_RUNTIME",
     "line 2: AttributeError: 'int' object has no attribute 'z'", {"line": 2, "exception": "AttributeError"}),
    ("python", "\n\n_global.order", "SCRIPT_RUNTIME", "line 3: KeyError: order", {"line": 3, "exception": "KeyError"}),
    ("python", "raise ValueError('no')", "SCRIPT_RUNTIME", "line 1: ValueError: no",
     {"line": 1, "exception": "ValueError"}),
    ("python", "raise ValueError", "SCRIPT_RUNTIME", "line 1: ValueError", {"line": 1, "exception": "ValueError"}),
    ("python", "assert 1 == 2", "SCRIPT_RUNTIME", "line 1: AssertionError: assert 1 == 2",
     {"line": 1, "exception": "AssertionError"}),
    ("python", "x = '''\n'''\nf'''\n{input.n}'''\n1 / 0", "SCRIPT_RUNTIME",
     "line 5: ZeroDivisionError: division by zero", {"line": 5, "exception": "ZeroDivisionError"}),
    ("python", "raise TimeoutError('feed time limit exceeded')", "SCRIPT_RUNTIME",
     "line 1: TimeoutError: feed time limit exceeded", {"line": 1, "exception": "TimeoutError"}),
    ("python", "import json\njson.loads('{')", "SCRIPT_RUNTIME", "line 2: JSONDecodeError", {}),
    ("python", "x = 1\nitem", "SCRIPT_NAME", "line 2: name 'item' is not defined", {"line": 2}),
    ("python", "item = item + 1", "SCRIPT_NAME", "line 1: cannot access local variable 'item'", {"line": 1}),
    ("python", "def f():\n    return a\n    a = 1\nf()", "SCRIPT_NAME", "line 2: cannot access local variable 'a'",
     {"line": 2}),
    ("python", "nonlocal x\n1", "SCRIPT_SYNTAX", "line 1: ", {"line": 1}),
    ("python", "while True: pass", "SCRIPT_LIMIT", "the script ran for longer than 0.2 s", {"limit": "time"}),
    ("python", "'a' * 10 ** 9", "SCRIPT_LIMIT", "line 1: the script used more than 8,388,608 bytes of memory",
     {"line": 1, "limit": "memory"}),
    ("python", "'a' * 2000", "SCRIPT_LIMIT",
     "the value of the script has 2,002 characters as JSON; 1,000 are allowed", {"limit": "output"}),
    ("python", "def f(): return f()\n\nf()", "SCRIPT_LIMIT",
     "line 1: the script calls itself, or nests its values, too deeply", {"line": 1, "limit": "depth"}),
    ("python", "x = []\nfor i in range(5000): x = [x]\nx", "SCRIPT_LIMIT",
     "the script calls itself, or nests its values, too deeply", {"limit": "depth"}),
    ("groovy", "def a = 1\n\n_global.order.id", "SCRIPT_RUNTIME",
     "line 3: NullPointerException: Cannot get property 'id' on null object",
     {"line": 3, "exception": "NullPointerException"}),
    ("groovy", "def a = 1\nthrow new IllegalStateException('no')", "SCRIPT_RUNTIME",
     "line 2: IllegalStateException: no", {"line": 2, "exception": "IllegalStateException"}),
    ("groovy", "1\n_response.x", "SCRIPT_NAME", "line 2: name '_response' is not defined", {"line": 2}),
    ("groovy", "while (true) { }", "SCRIPT_LIMIT", "the script ran for longer than 0.2 s", {"limit": "time"}),
]  # fmt: skip

SMALL = ScriptLimits(seconds=0.2, memory=8 * 1024 * 1024, output=1_000)


@pytest.mark.parametrize(
    ("language", "source", "code", "message", "details"), FAILURES, ids=[ascii(each[1])[:50] for each in FAILURES]
)
async def test_b11_a_failure_has_a_code_a_line_and_words(
    scripts: Scripts, language: str, source: str, code: str, message: str, details: dict[str, Any]
) -> None:
    bindings = {"_global": {}, "input": {"n": 1}}
    with pytest.raises(ActivationError) as error:
        await scripts.run(compile_script(source, language), bindings, now=NOW, seed=7, limits=SMALL)
    assert error.value.code == code
    assert error.value.message.startswith(message)
    assert (error.value.details or {}).items() >= details.items()
    assert not error.value.retryable
    assert "_perdure" not in error.value.message


async def test_the_clock_stands_and_chance_can_be_repeated(scripts: Scripts) -> None:
    script = compile_script(
        "import random, time\nfrom datetime import datetime\ntime.sleep(5)\n"
        "[datetime.now().isoformat(), time.time(), random.random(), random.choice(range(1000)), hash('a') == hash('a')]"
    )
    first = await scripts.run(script, {}, now=NOW, seed=7)
    assert first[:2] == ["2023-11-21T10:00:00.123000", 1700560800.123]
    assert await scripts.run(script, {}, now=NOW, seed=7) == first
    assert (await scripts.run(script, {}, now=NOW, seed=8))[2:4] != first[2:4]


async def test_what_is_printed_is_told_up_to_a_length(scripts: Scripts) -> None:
    told: list[str] = []
    await scripts.run(compile_script("print('a', 1)\nprint('b')"), {}, now=NOW, seed=7, tell=told.append)
    assert "".join(told) == "a 1\nb\n"
    long = compile_script("for i in range(3000): print('a' * 100)")
    await scripts.run(long, {}, now=NOW, seed=7, tell=told.append)
    assert len(told[-1]) == 4_096


async def test_no_script_gets_more_than_the_settings_allow(scripts: Scripts) -> None:
    most = ScriptLimits(seconds=0.1, memory=1, output=1)
    strict = Scripts(ScriptSettings(workers=1, most=most))
    assert ScriptLimits(seconds=60, memory=2, output=2).within(most) == most
    assert strict.limits(seconds=5).seconds == 5
    assert strict.limits().memory == ScriptLimits().memory


async def test_large_values_go_in_and_out(run: Run) -> None:
    rows = [{"name": f"row {number}", "amount": number / 3, "tags": ["a", "é"]} for number in range(5_000)]
    assert await run("[r for r in vars.rows if r.amount >= 1]", vars={"rows": rows}) == rows[3:]


def workers() -> list[int]:
    """The processes that this one has started."""
    lists = Path(f"/proc/{os.getpid()}/task").glob("*/children")
    pids = [int(pid) for each in lists for pid in each.read_text().split()]
    return [pid for pid in pids if "monty" in Path(f"/proc/{pid}/cmdline").read_text()]


def ticks(pid: int) -> int:
    """How long a process has computed, in hundredths of a second."""
    user, system = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    return int(user) + int(system)


async def until_busy(pid: int) -> None:
    before = ticks(pid)
    while ticks(pid) < before + 2:  # noqa: ASYNC110 — what another process does is no event here
        await asyncio.sleep(0)


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
async def test_b09_a_worker_that_is_killed_costs_its_script_one_attempt_and_nobody_else(run: Run) -> None:
    assert await run("1") == 1
    [worker] = workers()
    endless = asyncio.ensure_future(run("while True: pass"))
    await until_busy(worker)
    os.kill(worker, signal.SIGKILL)
    with pytest.raises(ActivationError) as error:
        await endless
    assert (error.value.code, error.value.retryable) == ("SCRIPT_CRASHED", True)
    assert await run("2") == 2


@linux
async def test_a_worker_that_hangs_is_replaced(scripts: Scripts, run: Run) -> None:
    """Stopped from outside, it cannot keep its time itself."""
    assert await run("1") == 1
    [worker] = workers()
    hung = asyncio.ensure_future(scripts.run(compile_script("while True: pass"), {}, now=0, seed=0, limits=SMALL))
    await until_busy(worker)
    os.kill(worker, signal.SIGSTOP)
    with pytest.raises(ActivationError) as error:
        await hung
    assert error.value.code == "SCRIPT_LIMIT"
    assert await run("2") == 2


@linux
async def test_a_script_that_is_cancelled_frees_its_worker(scripts: Scripts, run: Run) -> None:
    assert await run("1") == 1
    [worker] = workers()
    long = ScriptLimits(seconds=25)
    endless = asyncio.ensure_future(scripts.run(compile_script("while True: pass"), {}, now=0, seed=0, limits=long))
    await until_busy(worker)
    endless.cancel()
    with pytest.raises(asyncio.CancelledError):
        await endless
    async with asyncio.timeout(10):
        assert await run("2") == 2


async def test_scripts_wait_for_a_worker(run: Run) -> None:
    assert await asyncio.gather(*(run("input", input=number) for number in range(50))) == list(range(50))


async def test_workers_start_with_the_first_script_and_end_with_the_last() -> None:
    before = workers() if sys.platform == "linux" else []
    pool = Scripts(ScriptSettings(workers=2))
    await pool.close()
    assert (workers() if sys.platform == "linux" else []) == before
    assert await pool.run(compile_script("1"), {}, now=0, seed=0) == 1
    await pool.close()
    await pool.close()
    assert (workers() if sys.platform == "linux" else []) == before
