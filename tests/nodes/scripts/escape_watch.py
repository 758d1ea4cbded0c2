"""The scripts that try to escape, or to last for ever; run as a program, what each of them comes to.

Each runs twice: as a document would bring it, and with nothing refused beforehand, so that only the sandbox stands
between it and the host. A hook of the interpreter writes down what the host itself does meanwhile.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

SECONDS = 0.2
MEMORY = 32 * 1024 * 1024
MOST_RESIDENT = 400 * 1024
"""Kibibytes that a worker may take at any time."""
CANARY = "s3cr3t-canary"
_WATCHED = ("open", "os.", "socket.", "subprocess.", "ctypes.", "exec", "import", "shutil.", "pickle.")
_TRACING = "('opentelemetry"
"""The pool looks, again and again, whether it is to trace what it does."""


def read_scripts(port: int = 0) -> list[str]:
    text = (Path(__file__).parent / "escape_scripts.txt").read_text(encoding="utf-8")
    return [block.replace("@PORT@", str(port)) for block in text.rstrip("\n").split("\n---\n")]


def processes_below(pid: int) -> Iterator[int]:
    for each in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in each.read_text().split():
            yield int(child)
            yield from processes_below(int(child))


def resident(pid: int) -> int:
    """The most that it ever took, in kibibytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


async def watch(port: int) -> list[dict[str, Any]]:
    from perdure.engine.handlers import ActivationError
    from perdure.nodes.scripts import ScriptLimits, Scripts, check_script, compile_script, python, refusals
    from perdure.nodes.scripts.pool import ScriptSettings
    from perdure.nodes.scripts.script import Script

    limits = ScriptLimits(seconds=SECONDS, memory=MEMORY, output=100_000)
    scripts = Scripts(ScriptSettings(workers=1, limits=limits, most=limits))
    acts: list[str] = []
    watching = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if watching and event.startswith(_WATCHED) and not str(arguments[:1]).startswith(_TRACING):
            acts.append(f"{event} {arguments!r:.100}")

    sys.addaudithook(hook)
    simple = compile_script("1 + 1")
    assert await scripts.run(simple, {}, now=0, seed=0) == 2
    found = []
    for source in read_scripts(port):
        refused = [each.code for each in check_script(source, "python")[1]]
        nothing = {"return_value": ()}
        with mock.patch.object(refusals, "of", **nothing), mock.patch.object(refusals, "of_names", **nothing):
            written, problems = python.check_python(source)
        if written is None:
            found.append({"source": source, "refused": refused, "code": problems[0].code})
            continue
        script = Script(source, "python", *written[:4], written.reads, tuple(written.lines))
        acts.clear()
        began = time.monotonic()
        watching = True
        try:
            value: Any = await scripts.run(script, {}, now=0, seed=0)
            outcome = {"value": json.dumps(value)[:2000]}
        except ActivationError as error:
            outcome = {"code": error.code, "message": error.message}
        except BaseException as error:
            outcome = {"raised": repr(error)[:500]}
        watching = False
        took = time.monotonic() - began
        below = list(processes_below(os.getpid()))
        found.append(
            {
                "source": source,
                "refused": refused,
                **outcome,
                "took": took,
                "acts": list(acts),
                "processes": len(below),
                "resident": max(map(resident, below), default=0),
                "next": await scripts.run(simple, {}, now=0, seed=0),
                "files": sorted(os.listdir()),
            }
        )
    await scripts.close()
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(asyncio.run(watch(int(sys.argv[1])))))
