"""How a function enters the table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import Any, TypeVar

Body = TypeVar("Body", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Function:
    """One function: its parameters (of `call`, without the meter) and what is said of it in the reference."""

    name: str
    call: Callable[..., Any]
    parameters: tuple[str, ...]
    least: int
    most: int | None  # None: any number
    metered: bool
    summary: str
    examples: tuple[tuple[str, str], ...]  # an expression, and its value as JSON

    @property
    def usage(self) -> str:
        """`round(number, places?)`"""
        if self.most is None:
            return f"{self.name}({', '.join(self.parameters)}, …)"
        words = [word if at < self.least else f"{word}?" for at, word in enumerate(self.parameters)]
        return f"{self.name}({', '.join(words)})"


class Functions:
    """A group of functions, filled by decoration."""

    def __init__(self) -> None:
        self._entries: list[Function] = []

    def add(self, name: str, summary: str, *examples: tuple[str, str]) -> Callable[[Body], Body]:
        """Enter a Python function under `name`. A first parameter called `meter` receives the meter."""

        def enter(body: Body) -> Body:
            words = list(signature(body).parameters.values())
            metered = bool(words) and words[0].name == "meter"
            words = words[metered:]
            rest = any(word.kind is Parameter.VAR_POSITIONAL for word in words)
            plain = [word for word in words if word.kind is not Parameter.VAR_POSITIONAL]
            least = sum(word.default is Parameter.empty for word in plain)
            self._entries.append(
                Function(
                    name,
                    body,
                    tuple(word.name.rstrip("_") for word in words),
                    least,
                    None if rest else len(plain),
                    metered,
                    summary,
                    examples,
                )
            )
            return body

        return enter

    def entries(self) -> tuple[Function, ...]:
        return tuple(self._entries)
