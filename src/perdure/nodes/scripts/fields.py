"""Fields of configurations that are scripts, or may be: how they are checked at save.

transformer: Annotated[Any, TEMPLATE_OR_SCRIPT]           a template, or {"script": "…", "language": "groovy"}
body: ScriptText | None                                   a script
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from perdure.nodes.config import NodeConfig
from perdure.nodes.scripts.script import LANGUAGES, Language, Script, check_script, compile_script
from perdure.programs.flow.fields import Examined, Kind, Named, Written

_LANGUAGE_KEYS = ("language", "scriptType", "script_type")


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


LanguageName = Annotated[Language, BeforeValidator(_lower)]


def language_of(raw: dict[str, Any]) -> str:
    """As a configuration says it, under any of its names."""
    given = next((raw[key] for key in _LANGUAGE_KEYS if key in raw), "python")
    return given.lower() if isinstance(given, str) else "python"


def examine(value: Any, raw: dict[str, Any]) -> Examined | None:
    """The field `script` of an object that also says the language."""
    return _examined(value, language_of(raw), "") if isinstance(value, str) else None


def _examine_object(value: Any, raw: dict[str, Any]) -> Examined | None:
    if not is_script(value):
        return None
    return _examined(value["script"], language_of(value), "/script")


def _examined(source: str, language: str, place: str) -> Examined:
    if language not in LANGUAGES:
        return Examined([], [], [])  # told where the language stands
    script, problems = check_script(source, language, place)
    if script is None:
        return Examined(problems, [], [])
    names = [Named(name, place, line, column) for name, (line, column) in script.names.items()]
    return Examined([], names, sorted(script.reads, key=str))


def is_script(value: Any) -> bool:
    """Whether a value of a document is a script and not an object like any other."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("script"), str)
        and all(key == "script" or key in _LANGUAGE_KEYS for key in value)
    )


def script_mark(kind: Kind = Kind.SCRIPT, names: Iterable[str] = ()) -> Written:
    """For a field whose value is an object with a script in it. `names`: what it can read besides what all can."""
    more = tuple(names)
    return Written(kind, names=(lambda raw: more) if more else None, examine=_examine_object)


SCRIPT = Written(Kind.SCRIPT, examine=examine)
"""For the field `script` itself, beside a field `language`."""
TEMPLATE_OR_SCRIPT = script_mark(Kind.TEMPLATE_OR_SCRIPT)
"""Any value, or an object with a script in it."""


class ScriptText(NodeConfig):
    """A value that a script computes."""

    script: Annotated[str, SCRIPT] = Field(
        title="Script", min_length=1, description="Its value is that of `return`, or of its last expression."
    )
    language: LanguageName = Field(
        "python",
        validation_alias=AliasChoices("language", "scriptType"),
        title="Language",
        description="Groovy is translated.",
    )

    def compiled(self) -> Script:
        return compile_script(self.script, self.language)


def script_of(value: Any) -> Script | None:
    """The script that a value of a configuration is, if it is one."""
    if isinstance(value, ScriptText):
        return value.compiled()
    return compile_script(value["script"], language_of(value)) if is_script(value) else None
