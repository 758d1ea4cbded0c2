"""`perdure run` and `perdure retry`: a run to its end, in this process."""

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
COMPLETED, NOT_COMPLETED, WRONG_USE, WAITS, INTERRUPTED = 0, 1, 2, 3, 130
SAME = " and the same --app and --database"
PATIENCE = 3.0
"""Seconds that other workers get to take up what this process has no step for."""


QUIET = 2.0
"""Seconds without any news after which it is told why."""


def run_file(
    file: Path | None,
    input: str | None,
    database: str | None,
    resume: str | None,
    answers: str | None,
    target: str | None,
    *,
    retry: bool = False,
) -> int:
    progress = Progress()
    try:
        if (file is None) == (resume is None):
            raise InvalidInput("name a FILE to run, or --resume ID to go on with a run")
        if resume is not None and input is not None:
            raise InvalidInput(
                "--input is for a run that begins; this one has its input",
                remedy="leave out --input; what a run waits for is given with --answers",
            )
        settings = load_settings({"database_url": database})
        progress.is_kept = not settings.database_url.startswith("memory:")
        app = Perdure.open(settings=settings, observer=progress, on_fatal=give_up)
        if target is not None:
            from perdure.cli.loading import load_steps

            load_steps(target, app)
        document = read_json_file(file) if file is not None else None
        return asyncio.run(_run(app, progress, file, document, read_input(input), resume, read_answers(answers), retry))
    except KeyboardInterrupt:
        if progress.run is not None:
            sys.stderr.write(f"interrupted; {progress.how_to_go_on('goes on later')}\n")
        return INTERRUPTED
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
    retry: bool,
) -> int:
    async with app:
        if resume is not None:
            run = app.run(resume)
            await run.view()
            progress.run = run.id
            if retry:
                await _retry(app, progress, run)
        else:
            assert file is not None
            version = await app.deploy(document, id=document_id(document, file))
            run = await app.start(version.id, input, version=version.version, trigger="manual")
            progress.run = run.id
        return await finish(app, progress, run, answers)


async def _retry(app: Perdure, progress: Progress, run: Run) -> None:
    """Comes back when the run has been taken up again."""
    before = await app.store.journal.head(run.id)
    assert before is not None
    await run.retry()
    while (now := await app.store.journal.head(run.id)) is not None and now.seq == before.seq:
        progress.clear()
        await progress.wait()


async def finish(app: Perdure, progress: Progress, run: Run, answers: dict[str, list[Any]]) -> int:
    """Waits for the end, answering what it asks for; stops where there is no answer."""
    given = set(answers)
    standstill = await until_settled(app, progress, run, answers)
    for name in sorted(given - progress.asked):
        sys.stderr.write(f"warning: there are answers for {name!r}, which was never asked\n")
    if standstill is not None:
        if standstill.refused is not None:
            tell(standstill.refused)
        sys.stderr.write("\n".join([*standstill.told, progress.how_to_go_on("waits")]) + "\n")
        sys.stdout.write(run.id + "\n")
        return WAITS
    view = await run.view()
    if view.status is Status.COMPLETED:
        print_json(view.output)
        return COMPLETED
    print_json({"run": view.id, "status": view.status, "failure": view.failure})
    if view.failure:
        sys.stderr.write(f"{view.status}: {view.failure['code']}: {view.failure['message']}\n")
    if view.status is Status.FAILED and progress.is_kept:
        sys.stderr.write(f"take it up again where it failed with: perdure retry {run.id}{SAME}\n")
    return NOT_COMPLETED


class Standing(msgspec.Struct):
    """Where a run and the runs that it waits for are."""

    told: list[str] = []
    asked: list[tuple[str, str, str | None]] = []
    """Run, and the name under which there may be an answer: of a signal, or of a node, and then its task."""
    stuck: bool = False
    """Somebody outside must do something."""
    moving: bool = False
    refused: InvalidInput | None = None
    """An answer did not fit."""


async def until_settled(app: Perdure, progress: Progress, run: Run, answers: dict[str, list[Any]]) -> Standing | None:
    """Comes back when the run has ended (None), or when it or a run that it waits for needs somebody outside: a
    person or a signal to which there is no answer, a suspended run, or a step that nobody has."""
    used: dict[str, int] = {}
    while True:
        progress.clear()
        if (await run.status()).is_final:
            return None
        standing = Standing()
        await look(app, progress, run, standing, patient=any(answers.values()))
        answered = False
        for id, name, task in standing.asked:
            progress.asked.add(name)
            if answers.get(name):
                said = answers[name].pop(0)
                used[name] = used.get(name, 0) + 1
                try:
                    if task is None:
                        await app.run(id).signal(name, said)
                    else:
                        await app.tasks.answer(app.namespace, f"{id}.{task}", said)
                except InvalidInput as problem:
                    standing.refused = problem
                    standing.told.append(f"answer {used[name]} for {name!r} was refused")
                    return standing
                answered = True
                break
        if answered:
            continue
        if standing.stuck and not standing.moving:
            return standing
        await progress.wait()
        if progress.is_quiet() and not (await run.status()).is_final:
            progress.explain(await run.why())


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
        self.run: str | None = None
        self.is_kept = True
        """Whether the database outlives this process."""
        self.asked: set[str] = set()
        self._news: float | None = None
        self._told: list[str] = []

    def how_to_go_on(self, later: str) -> str:
        if not self.is_kept:
            return f"run {self.run} is gone: memory:// keeps nothing; name a --database to go on later"
        return f"run {self.run} {later}; go on with: perdure run --resume {self.run}{SAME}"

    def is_quiet(self) -> bool:
        """Nothing has happened for so long that somebody may wonder why."""
        now = asyncio.get_running_loop().time()
        if self._news is None or self._event.is_set():
            self._news = now
        return now >= self._news + QUIET

    def explain(self, why: list[str]) -> None:
        """Once for each change of the reason."""
        if why and why != self._told:
            sys.stderr.write("\n".join(why) + "\n")
            sys.stderr.flush()
        self._told = why

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


def read_input(text: str | None, flag: str = "--input", example: str = '{"order": 7}') -> Any:
    if text is None:
        return None
    if text.startswith("@"):
        return read_json_file(Path(text[1:]), read_value)
    value, problems = read_value(text.encode(errors="surrogateescape"))
    if problems:
        raise InvalidInput(
            f"{flag} is {problems[0].message}",
            expected="a JSON value",
            remedy=f"quote it: {flag} '{example}'",
        )
    return value


def read_answers(text: str | None) -> dict[str, list[Any]]:
    """JSON, @FILE, or the name of a file."""
    if text is None:
        return {}
    is_json = text.lstrip().startswith(("{", "["))
    given = text if is_json or text.startswith("@") else f"@{text}"
    found = read_input(given, "--answers", '{"approval": {"ok": true}}')
    if not isinstance(found, dict):
        raise InvalidInput(
            "--answers must be an object: node → what is selected, signal name → payload, or lists of these"
        )
    return {name: value if isinstance(value, list) else [value] for name, value in found.items()}
