"""Typed settings, read once at the edge: flags, then `PERDURE_…` variables, then a TOML file, then the defaults."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from perdure.errors import SettingsInvalid

PREFIX = "PERDURE_"
DEFAULT_FILE = "perdure.toml"
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Settings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    database_url: str = "sqlite:///perdure.db"
    """sqlite:///relative/or//absolute.db, postgresql://user@host/name, or memory://"""
    host: str = "127.0.0.1"
    port: int = 8000
    namespace: str = "default"
    lease_seconds: float = 30.0
    """A worker that has not been heard of for so long is taken for dead."""
    poll_seconds: float = 1.0
    max_runs: int = 10_000
    handler_slots: int = 1_000
    handler_threads: int = 16
    log_level: str = "INFO"


def load_settings(
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    file: str | Path | None = None,
) -> Settings:
    """Raises SettingsInvalid naming the setting, where it came from, and what would be right."""
    environ = os.environ if environ is None else environ
    found: dict[str, tuple[Any, str]] = {}
    path = Path(file or environ.get(PREFIX + "CONFIG") or DEFAULT_FILE)
    if file is not None and not path.exists():
        raise SettingsInvalid(f"the settings file {path} does not exist")
    if path.exists():
        for name, value in _read_file(path).items():
            found[name] = (_substitute(value, environ, f"{name} in {path}"), str(path))
    for name in Settings.__struct_fields__:
        if (text := environ.get(PREFIX + name.upper())) is not None:
            found[name] = (text, PREFIX + name.upper())
    for name, value in (flags or {}).items():
        if value is not None:
            found[name] = (value, f"--{name.replace('_', '-')}")
    for name, (_, origin) in found.items():
        if name not in Settings.__struct_fields__:
            known = ", ".join(Settings.__struct_fields__)
            raise SettingsInvalid(f"{origin} has an unknown setting {name!r}", expected=f"one of {known}")
    try:
        settings = msgspec.convert({name: value for name, (value, _) in found.items()}, Settings, strict=False)
    except msgspec.ValidationError as problem:
        name = str(problem).rpartition("$.")[2].rstrip("`")
        origin = found[name][1] if name in found else "settings"
        raise SettingsInvalid(f"{origin}: {problem}", setting=name) from None
    if not 0 <= settings.port <= 65_535:
        raise SettingsInvalid(f"{found['port'][1]}: there is no port {settings.port}", expected="0 to 65535")
    return settings


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as problem:
        raise SettingsInvalid(f"the settings file {path} cannot be read: {problem}") from None


def _substitute(value: Any, environ: Mapping[str, str], where: str) -> Any:
    """`${NAME}` and `${NAME:-default}` in texts; a missing variable is named at start, not found out at night."""
    if not isinstance(value, str):
        return value

    def fill(match: re.Match[str]) -> str:
        name, default = match.groups()
        if name in environ:
            return environ[name]
        if default is None:
            raise SettingsInvalid(f"{where} needs the variable {name}, which is not set", variable=name)
        return default

    return _VARIABLE.sub(fill, value)
