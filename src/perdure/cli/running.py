"""`perdure run`: a flow document to its end, in this process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from perdure.assembly import Perdure, Run
from perdure.cli.screen import give_up, print_json, tell
from perdure.engine import Observer
from perdure.errors import DocumentInvalid, InvalidInput, PerdureError
from perdure.model.problems import Problem
from perdure.model.reading import read_document, read_value
from perdure.model.statuses import Status
from perdure.settings import load_settings

Reader = Callable[[bytes], tuple[Any, list[Problem]]]
COMPLETED, NOT_COMPLETED, WRONG_USE, WAITS = 0, 1, 2, 3


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
    if await until_settled(app, progress, run, answers) is Status.WAITING:
        more = " and the same --app and --database"
        lines = [*await run.why(), f"run {run.id} waits; go on with: perdure run --resume {run.id}{more}"]
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


async def until_settled(app: Perdure, progress: Progress, run: Run, answers: dict[str, list[Any]]) -> Status:
    """Comes back when the run has ended, or waits for a signal to which there is no answer."""
    while True:
        progress.clear()
        status = await run.status()
        if status.is_final:
            return status
        if status is Status.SUSPENDED:
            return Status.WAITING
        if status is Status.WAITING:
            reasons = await app.runs.explain(app.namespace, run.id)
            asked = [reason.subject for reason in reasons if reason.kind == "signal" and reason.subject is not None]
            for name in asked:
                if answers.get(name):
                    await run.signal(name, answers[name].pop(0))
                    break
            else:
                if asked and not any(reason.kind == "child" for reason in reasons):
                    return status
                await progress.wait()
        else:
            await progress.wait()


class Progress(Observer):
    """Says that something was committed."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def turn_committed(self, run: str, events: int, commands: int) -> None:
        self._event.set()

    def clear(self) -> None:
        self._event.clear()

    async def wait(self) -> None:
        await self._event.wait()


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
    if isinstance(document, dict) and isinstance(document.get("id"), str):
        return str(document["id"])
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
        raise InvalidInput(f"{file} must hold an object: signal name → payload, or a list of payloads")
    return {name: value if isinstance(value, list) else [value] for name, value in found.items()}
