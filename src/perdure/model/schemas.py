"""JSON Schema, as users write it: checked when it is saved, applied without reaching out to anything.

A `$ref` to the network is refused, and patterns run on an engine whose time is linear in the text.
"""

from __future__ import annotations

from typing import Any, NamedTuple, NoReturn

from perdure.errors import InvalidInput
from perdure.model.problems import pointed


class Misfit(NamedTuple):
    path: str
    """JSON pointer into the value."""
    message: str


class Schema:
    __slots__ = ("_validator",)

    def __init__(self, schema: Any) -> None:
        """Raises InvalidInput for what is no JSON Schema."""
        import jsonschema_rs  # most flows have no schema

        try:
            self._validator = jsonschema_rs.validator_for(
                schema, retriever=_refuse, validate_formats=True, pattern_options=jsonschema_rs.RegexOptions()
            )
        except (ValueError, TypeError, OverflowError, RecursionError) as problem:
            told = getattr(problem, "message", None) or str(problem)
            raise InvalidInput(f"not a JSON Schema: {told}") from None

    def first_misfit(self, value: Any) -> Misfit | None:
        for error in self._validator.iter_errors(value):
            return Misfit(pointed("", *error.instance_path), error.message)
        return None


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"the schema refers to {uri!r}; only references inside the schema are followed")
