"""`perdure run`: a flow document to its end, in this process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from perdure.assembly import Perdure
from perdure.cli.screen import give_up, print_json, tell
from perdure.dialects.known import dialect_of
from perdure.engine import Observer
from perdure.errors import DocumentInvalid, InvalidInput, NotFound, PerdureError
from perdure.model.problems import Problem
from perdure.model.reading import read_document, read_value
from perdure.model.statuses import Status
from perdure.service.handles import Run
from perdure.settings import load_settings

Reader = Callable[[bytes], tuple[Any, list[Problem]]]
COMPLETED, NOT_COMPLETED, WRONG_USE, WAITS = 0, 1, 2, 3
PATIENCE = 3.0
"""Seconds that other workers get to take up what this process has no step for."""


def run_file(
    file: Path | None,
    input: str | None,
    database: str | None,
    resume: str | None,
    answers: Path | None,
    target: str | None,
) -> int:
    try:
        if (file is None) == (resume is None):
            raise InvalidInput("name a FILE to run, or --resume ID to go on with a run")
        progress = Progress()
        settings = load_settings({"database_url": database})
        app = Perdure.open(settings=settings, observer=progress, on_fatal=give_up)
        if target is not None:
            from perdure.cli.loading import load_steps

            load_steps(target, app)
        document = read_json_file(file) if file is not None else None
        return asyncio.run(_run(app, progress, file, document, read_input(input), resume, read_answers(answers)))
    except PerdureError as error:
        tell(error)
        return WRONG_USE


async def _run(
    app: Perdure,
    progress: Progress,
    file: Path | None,
    document: Any,
    input: Any,
    resume: str | None,
    answers: dict[str, list[Any]],
) -> int:
    async with app:
        if resume is not None:
            run = app.run(resume)
            await run.view()
        else:
            assert file is not None
            version = await app.deploy(document, id=document_id(document, file))
            run = await app.start(version.id, input, version=version.version, trigger="manual")
        return await finish(app, progress, run, answers)


async def finish(app: Perdure, progress: Progress, run: Run, answers: dict[str, list[Any]]) -> int:
    """Waits for the end, answering what it asks for; stops where there is no answer."""
    standstill = await until_settled(app, progress, run, answers)
    if standstill is not None:
        more = " and the same --app and --database"
        lines = [*standstill.told, f"run {run.id} waits; go on with: perdure run --resume {run.id}{more}"]
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stdout.write(run.id + "\n")
        return WAITS
    view = await run.view()
    if view.status is Status.COMPLETED:
        print_json(view.output)
        return COMPLETED
    print_json({"run": view.id, "status": view.status, "failure": view.failure})
    if view.failure:
        sys.stderr.write(f"{view.status}: {view.failure['code']}: {view.failure['message']}\n")
    return NOT_COMPLETED


class Standing(msgspec.Struct):
    """Where a run and the runs that it waits for are."""

    told: list[str] = []
    asked: list[tuple[str, str, str | None]] = []
    """Run, and the name under which there may be an answer: of a signal, or of a node, and then its task."""
    stuck: bool = False
    """Somebody outside must do something."""
    moving: bool = False


async def until_settled(app: Perdure, progress: Progress, run: Run, answers: dict[str, list[Any]]) -> Standing | None:
    """Comes back when the run has ended (None), or when it or a run that it waits for needs somebody outside: a
    person or a signal to which there is no answer, a suspended run, or a step that nobody has."""
    while True:
        progress.clear()
        if (await run.status()).is_final:
            return None
        standing = Standing()
        await look(app, progress, run, standing, patient=any(answers.values()))
        answered = False
        for id, name, task in standing.asked:
            if answers.get(name):
                said = answers[name].pop(0)
                if task is None:
                    await app.run(id).signal(name, said)
                else:
                    await app.tasks.answer(app.namespace, f"{id}.{task}", said)
                answered = True
                break
        if answered:
            continue
        if standing.stuck and not standing.moving:
            return standing
        await progress.wait()


async def look(app: Perdure, progress: Progress, run: Run, standing: Standing, *, patient: bool, of: str = "") -> None:
    """Also into the children. Where nothing has to be answered, one that moves is enough to know."""
    status = await run.status()
    if status is Status.SLEEPING:
        return  # a timer that is due later is no reason to wait for it, if somebody else is asked
    waits = status in (Status.WAITING, Status.SUSPENDED)
    if not waits and run.id not in progress.left:
        standing.moving = True
        return
    reasons = await app.runs.explain(app.namespace, run.id)
    lacking = any(reason.kind == "lacking" for reason in reasons)
    if not (waits or lacking) or (lacking and not progress.has_waited_for_others(run.id)):
        standing.moving = True
        return
    standing.told += [of + reason.text for reason in reasons]
    if status is Status.SUSPENDED or lacking:
        standing.stuck = True
        return
    for reason in reasons:
        if reason.subject is None:
            continue
        if reason.kind in ("signal", "items"):
            standing.asked.append((run.id, reason.subject, None))
            standing.stuck = True
        elif reason.kind == "person":
            standing.asked.append((run.id, reason.node or "", reason.subject))
            standing.stuck = True
        elif reason.kind == "child" and (patient or not standing.moving):
            child = app.run(reason.subject)
            try:
                await look(app, progress, child, standing, patient=patient, of=f"run {child.id}: ")
            except NotFound:
                standing.moving = True  # it is being started


class Progress(Observer):
    """Says that something was committed here, or that it is time to look what others have committed."""

    def __init__(self, patience: float = 1.0) -> None:
        self._event = asyncio.Event()
        self._patience = patience
        self.left: dict[str, float] = {}
        """Runs that were left to others, and when."""

    def handed_back(self, run: str, lacking: str) -> None:
        self.left.setdefault(run, asyncio.get_running_loop().time())
        self._event.set()

    def has_waited_for_others(self, run: str) -> bool:
        """They had time enough to take it up."""
        return asyncio.get_running_loop().time() >= self.left.get(run, 0.0) + PATIENCE

    def turn_committed(self, run: str, events: int, commands: int) -> None:
        self._event.set()

    def clear(self) -> None:
        self._event.clear()

    async def wait(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._event.wait(), self._patience)


def read_json_file(file: Path, read: Reader = read_document) -> Any:
    try:
        data = file.read_bytes()
    except OSError as problem:
        raise InvalidInput(f"{file}: {problem.strerror}") from None
    document, problems = read(data)
    if problems:
        raise DocumentInvalid(f"{file} cannot be read", [problem.as_dict() for problem in problems])
    return document


def document_id(document: Any, file: Path) -> str:
    given = dialect_of(document).id_of(document) if isinstance(document, dict) else None
    if isinstance(given, str):
        return given
    cleaned = "".join(sign if sign.isalnum() or sign in "._-" else "-" for sign in file.stem)
    return cleaned.strip("._-") or "flow"


def read_input(text: str | None) -> Any:
    if text is None:
        return None
    if text.startswith("@"):
        return read_json_file(Path(text[1:]), read_value)
    value, problems = read_value(text.encode(errors="surrogateescape"))
    if problems:
        raise InvalidInput(
            f"--input is not JSON: {problems[0].message}",
            expected="a JSON value",
            remedy="quote it: --input '{\"order\": 7}'",
        )
    return value


def read_answers(file: Path | None) -> dict[str, list[Any]]:
    if file is None:
        return {}
    found = read_json_file(file)
    if not isinstance(found, dict):
        raise InvalidInput(
            f"{file} must hold an object: node → what is selected, signal name → payload, or lists of these"
        )
    return {name: value if isinstance(value, list) else [value] for name, value in found.items()}
