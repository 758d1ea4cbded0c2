"""Calls of the functions of the table, and comprehensions."""

from __future__ import annotations

import ast
from typing import Final

from perdure.expressions import syntax
from perdure.expressions.emit import pieces
from perdure.expressions.emit.emitter import Emitter, emits
from perdure.expressions.emit.operations import first_of, text_key
from perdure.expressions.emit.paths import tolerant
from perdure.expressions.functions import TABLE
from perdure.expressions.functions.presence import TOLERANT
from perdure.expressions.functions.table import Function
from perdure.expressions.places import nearest
from perdure.expressions.syntax import Node
from perdure.expressions.tokens import wrong

#: Functions whose result can hold a part of the environment several times. Displays, comprehensions, + and * can too.
_MULTIPLYING: Final = frozenset({"zip"})
_LIGHT = 20  # nodes in the body of a comprehension that make one step
_CALL = 12  # units of work that a call in the body of a comprehension costs, whatever it does


@emits(syntax.Call)
def call(to: Emitter, node: syntax.Call) -> ast.expr:
    entry = TABLE.get(node.name)
    if entry is None:
        meant = nearest(node.name, TABLE)
        remedy = f"did you mean {meant!r}?" if meant else "the reference lists all functions"
        end = node.name_start + len(node.name)
        to.problems.append(wrong(f"there is no function {node.name!r}", to.source, node.name_start, end, remedy))
        for each in (*node.arguments, *node.keywords.values()):
            to.emit(each)  # for the problems in them
        return pieces.constant(None)
    to.calls += 1
    arguments = _arranged(to, node, entry)
    if entry.name in TOLERANT and arguments:
        return _tolerant_call(to, entry.name, arguments)
    to.builds = to.builds or entry.name in _MULTIPLYING
    emitted = [to.emit(each) for each in arguments]
    if entry.metered:
        is_gval = to.missing == "gval" and entry.name == "contains"
        return to.metered("g_contains" if is_gval else f"f_{entry.name}", emitted, node)
    return pieces.call(f"f_{entry.name}", emitted, to.spot(node))


def _arranged(to: Emitter, node: syntax.Call, entry: Function) -> list[Node]:
    """The arguments in the order of the parameters. What is wrong with them is noted as a problem."""
    given: dict[int, Node] = dict(enumerate(node.arguments))
    problem = None
    for word, value in node.keywords.items():
        at = entry.parameters.index(word) if word in entry.parameters and entry.most is not None else -1
        if at < 0:
            problem = f"{entry.name} has no parameter {word!r}"
        elif at in given:
            problem = f"{entry.name} gets {word!r} twice"
        else:
            given[at] = value
    if problem is None:
        wanted = max([*given, entry.least - 1]) + 1
        if entry.most is not None and wanted > entry.most:
            problem = f"{entry.name} takes at most {entry.most}, not {wanted} arguments"
        elif any(at not in given for at in range(entry.least)):
            problem = f"{entry.name} needs {entry.least} argument{'s' * (entry.least != 1)}"
    if problem is not None:
        to.problems.append(wrong(problem, to.source, node.start, node.end, f"usage: {entry.usage}"))
        return []
    return [given.get(at, syntax.Constant(node.start, node.end, None)) for at in range(max(given, default=-1) + 1)]


def _tolerant_call(to: Emitter, name: str, arguments: list[Node]) -> ast.expr:
    if name == "exists":
        return tolerant(to, "there", arguments[0])
    if name == "default":
        return first_of(to, "filled", arguments[:1], to.emit(arguments[1]))
    return first_of(to, "filled", arguments, pieces.constant(None))


@emits(syntax.Comprehension)
def comprehension(to: Emitter, node: syntax.Comprehension) -> ast.expr:
    to.builds = True
    outer = to.scope
    cost = max(1, node.weight // _LIGHT)
    work = ast.Constant(value=0, lineno=1, col_offset=0)  # filled in when the body is known
    calls = to.calls
    clauses = []
    for each in node.clauses:
        source = to.metered(
            "turns", [to.emit(each.source), pieces.constant(cost), pieces.constant(len(each.names)), work], each.source
        )
        variables = [f"v{to.variables + at}" for at in range(len(each.names))]
        to.variables += len(variables)
        to.scope = {**to.scope, **dict(zip(each.names, variables, strict=True))}
        clauses.append(pieces.clause(variables, source, [to.emit(condition) for condition in each.conditions]))
    key = None if node.key is None else text_key(to, node.key)
    value = to.emit(node.value)
    to.scope = outer
    work.value = (to.calls - calls) * _CALL
    return pieces.comprehension(key, value, clauses)
