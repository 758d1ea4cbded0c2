"""Which names a template may read of its data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from perdure.expressions.gotemplate.syntax import (
    Body,
    Branch,
    Call,
    Definition,
    Include,
    Member,
    Output,
    Pipeline,
    Plain,
    Range,
    Set,
    Statement,
    Value,
)

Read = tuple[str | int, ...]


def reads_of(definitions: Iterable[Definition]) -> Iterator[Read]:
    """More than it will: inside of `range` and `with` a name may be one of the item."""
    for definition in definitions:
        yield from _body(definition.body)


def _body(body: Body) -> Iterator[Read]:
    for statement in body.statements:
        yield from _statement(statement)


def _statement(statement: Statement) -> Iterator[Read]:
    match statement:
        case Plain():
            yield statement.keys
        case Output() | Set():
            yield from _pipeline(statement.pipeline)
        case Include(pipeline=Pipeline() as pipeline):
            yield from _pipeline(pipeline)
        case Range():
            yield from _pipeline(statement.pipeline)
            yield from _body(statement.body)
            yield from _body(statement.otherwise)
        case Branch():
            for pipeline, _, body in statement.cases:
                yield from _pipeline(pipeline)
                yield from _body(body)
            yield from _body(statement.otherwise)
        case _:
            pass


def _pipeline(pipeline: Pipeline) -> Iterator[Read]:
    yield from _value(pipeline.value)


def _value(value: Value) -> Iterator[Read]:
    match value:
        case Member():
            if value.keys:
                yield value.keys
            yield from _value(value.of)
        case Call():
            for argument in value.arguments:
                yield from _value(argument)
        case _:
            pass
