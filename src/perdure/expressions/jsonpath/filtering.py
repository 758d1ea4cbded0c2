"""From a filter to a Python function that says yes or no to a value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from perdure.expressions.jsonpath.functions import PATTERN_FUNCTIONS, Run, constant_pattern
from perdure.expressions.jsonpath.selecting import Check, Nodes, Selecting, walk
from perdure.expressions.jsonpath.syntax import (
    Argument,
    Both,
    Call,
    Comparable,
    Comparison,
    Either,
    Filter,
    Literal,
    Logical,
    Not,
    Query,
    Test,
)
from perdure.expressions.limits import spend_text
from perdure.expressions.operators import same
from perdure.expressions.values import MISSING, Json, is_number

Compute = Callable[[Json, Run], Any]

_LONG = 1_024  # characters above which comparing text is paid for


def check(to: Selecting, filter: Filter) -> Check:
    return _logical(to, filter.test)


def _logical(to: Selecting, node: Logical) -> Check:
    match node:
        case Comparison():
            return _comparison(to, node)
        case Test():
            return _test(to, node.of)
        case Not():
            of = _logical(to, node.of)
            return lambda value, run: not of(value, run)
        case Both():
            parts = [_logical(to, each) for each in node.parts]
            return lambda value, run: all(part(value, run) for part in parts)
        case Either():
            parts = [_logical(to, each) for each in node.parts]
            return lambda value, run: any(part(value, run) for part in parts)


def _test(to: Selecting, of: Query | Call) -> Check:
    if isinstance(of, Call):
        call = _call(to, of)
        return call if of.function.result == "logical" else lambda value, run: bool(call(value, run))
    if of.is_singular:
        found = _singular(of)
        return lambda value, run: found(value, run) is not MISSING
    nodes = _nodes(to, of)
    return lambda value, run: bool(nodes(value, run))


# -- values -------------------------------------------------------------------------------------------------------


def _value(to: Selecting, of: Comparable) -> Compute:
    match of:
        case Literal():
            constant = of.value
            return lambda value, run: constant
        case Query():
            return _singular(of)
        case Call():
            return _call(to, of)


def _singular(query: Query) -> Compute:
    keys = query.keys
    if query.absolute:
        return lambda value, run: walk(run.root, keys)
    return lambda value, run: walk(value, keys)


def _nodes(to: Selecting, query: Query) -> Compute:
    find = to.query(query)
    if query.absolute:
        return lambda value, run: find(Nodes([run.root], None), run).values
    return lambda value, run: find(Nodes([value], None), run).values


def _call(to: Selecting, call: Call) -> Compute:
    function = call.function.call
    if call.function.name in PATTERN_FUNCTIONS and isinstance(call.arguments[1], Literal):
        text = _argument(to, call, 0)
        pattern = constant_pattern(call.arguments[1].value, to.limits)
        return lambda value, run: function(run, text(value, run), pattern)
    arguments = [_argument(to, call, number) for number in range(len(call.arguments))]
    return lambda value, run: function(run, *[argument(value, run) for argument in arguments])


def _argument(to: Selecting, call: Call, number: int) -> Compute:
    argument: Argument = call.arguments[number]
    if isinstance(argument, Query) and call.function.parameters[number] == "nodes":
        return _nodes(to, argument)
    return _value(to, argument) if isinstance(argument, Comparable) else _logical(to, argument)


# -- comparisons --------------------------------------------------------------------------------------------------


def _comparison(to: Selecting, node: Comparison) -> Check:
    left, right = _value(to, node.left), _value(to, node.right)
    match node.op:
        case "==":
            return lambda value, run: _equal(run, left(value, run), right(value, run))
        case "!=":
            return lambda value, run: not _equal(run, left(value, run), right(value, run))
        case "<":
            return lambda value, run: _less(run, left(value, run), right(value, run))
        case ">":
            return lambda value, run: _less(run, right(value, run), left(value, run))
        case "<=":
            return lambda value, run: _less_or_equal(run, left(value, run), right(value, run))
        case ">=":
            return lambda value, run: _less_or_equal(run, right(value, run), left(value, run))


def _equal(run: Run, a: Json, b: Json) -> bool:
    """Nothing equals Nothing, and nothing else."""
    if a is MISSING or b is MISSING:
        return a is b
    return same(run.meter, a, b)


def _less(run: Run, a: Json, b: Json) -> bool:
    """Numbers and text have an order; nothing else is less than anything."""
    if isinstance(a, str) and isinstance(b, str):
        if len(a) > _LONG and len(b) > _LONG:
            spend_text(run.meter, min(len(a), len(b)))
        return a < b
    return is_number(a) and is_number(b) and bool(a < b)


def _less_or_equal(run: Run, a: Json, b: Json) -> bool:
    return _less(run, a, b) or _equal(run, a, b)
