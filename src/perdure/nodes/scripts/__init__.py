"""Scripts: short programs of users, in Python or Groovy, that run in a sandbox of their own process.

text → checked, and what it reads found (`python`, `groovy`) → program (`program`) → worker (`pool`)

A script sees only the values that it names, gets them as a copy, and gives one value back. The clock stands still and
chance has a seed, so the same script with the same bindings gives the same value on every worker.
"""

from __future__ import annotations

from perdure.nodes.scripts.fields import SCRIPT, TEMPLATE_OR_SCRIPT, ScriptText, script_mark, script_of
from perdure.nodes.scripts.limits import ScriptLimits
from perdure.nodes.scripts.pool import Scripts
from perdure.nodes.scripts.script import Language, Script, check_script, compile_script

__all__ = [
    "SCRIPT",
    "TEMPLATE_OR_SCRIPT",
    "Language",
    "Script",
    "ScriptLimits",
    "ScriptText",
    "Scripts",
    "check_script",
    "compile_script",
    "script_mark",
    "script_of",
]
