"""Loading user code named as `package.module:attribute`."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from perdure.assembly import Perdure
from perdure.errors import SettingsInvalid


def load_steps(target: str, app: Perdure) -> None:
    """Registers what the attribute holds: a function, a list or dict of functions, or a `register(app)` callable."""
    module_name, _, attribute = target.partition(":")
    sys.path.insert(0, "")
    try:
        module = import_module(module_name)
    except Exception as problem:
        told = f"{type(problem).__name__}: {problem}"
        raise SettingsInvalid(f"--app {target}: {told}", expected="package.module:attribute") from problem
    found: Any = getattr(module, attribute or "steps", None)
    if found is None:
        raise SettingsInvalid(f"--app {target}: {module_name} has no {attribute or 'steps'}")
    if isinstance(found, dict):
        for name, function in found.items():
            app.register(function, name=name)
    elif isinstance(found, list | tuple):
        app.register(*found)
    elif getattr(found, "__name__", "") == "register":
        found(app)
    else:
        app.register(found)
