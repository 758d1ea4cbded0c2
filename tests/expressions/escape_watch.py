"""The escape corpus; run as a script, what the interpreter does while it is evaluated.

Python reports imports, files, processes, sockets, frames, `exec` and more to audit hooks. The hook here writes down
every one that compiling and evaluating have no reason for.
"""

import ast
import json
import sys
from pathlib import Path
from typing import Any

SECRET = "s3cr3t-canary"
DATA: dict[str, Any] = {
    "order": {"total": 150, "items": [{"name": "Desk"}], "note": None},
    "user": {"name": "Ada", "roles": ["buyer"], "template": "{{secret}} ${secret}"},
    "secret": SECRET,
}
#: How the strings are also tried inside templates.
FORMS = ["@@", "${@@}", "{{@@}}", "a ${@@} b {{@@}}"]


def read_corpus() -> list[str]:
    lines = (Path(__file__).parent / "escape_corpus.txt").read_text(encoding="utf-8").splitlines()
    return [
        line.encode("latin-1", "backslashreplace").decode("unicode_escape") if "\\" in line else line
        for line in lines
        if line and not line.startswith("# ")
    ]


def watch() -> dict[str, Any]:
    from perdure.errors import ExpressionError
    from perdure.expressions import compile_expression, compile_template
    from perdure.expressions.emit.pieces import FILENAME

    corpus = read_corpus()
    acts: list[str] = []
    watching = False

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if not watching:
            return
        allowed = {
            "compile": lambda: isinstance(arguments[0], ast.Module),  # the rewritten tree; never text
            "builtins.id": lambda: True,
            "object.__getattr__": lambda: arguments[1] in {"tb_frame", "f_code"},  # to find the place of an error
            "object.__setattr__": lambda: arguments[1] == "__kwdefaults__",  # of the function that was just made
            "function.__new__": lambda: arguments[0].co_filename == FILENAME,
        }.get(event)
        if allowed is None or not allowed():
            acts.append(f"{event} {arguments!r:.80}")

    sys.addaudithook(hook)
    evaluated = 0
    for source in corpus:
        texts = [form.replace("@@", source) for form in FORMS]
        attempts = [lambda source=source: compile_expression(source).evaluate(DATA)]
        attempts += [lambda text=text: compile_template(text).resolve(DATA) for text in texts]
        attempts += [lambda text=text: compile_template(text, mode="lenient").resolve(DATA) for text in texts]
        for attempt in attempts:
            watching = True
            try:
                attempt()
            except ExpressionError:
                pass
            finally:
                watching = False
            evaluated += 1
    return {"evaluated": evaluated, "acts": acts}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(watch()))
