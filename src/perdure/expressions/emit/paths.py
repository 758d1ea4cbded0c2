"""Names, keys and indexes.

A path from a name through constant keys, `order.customer["name"]`, is emitted as bare subscripts, and what they raise
is explained afterwards. Anything else goes through `member` and `index`, which raise the precise error themselves.
"""

from __future__ import annotations

import ast

from perdure.expressions import syntax
from perdure.expressions.emit import pieces
from perdure.expressions.emit.emitter import Emitter, emits
from perdure.expressions.syntax import Node

Step = syntax.Member | syntax.Index


def taken_apart(node: Node) -> tuple[Node, list[Step]]:
    """The root of a path and its steps, outwards. Not recursive, because paths may be long."""
    steps: list[Step] = []
    while isinstance(node, Step):
        steps.append(node)
        node = node.of
    return node, steps[::-1]


def plain_key(step: Step) -> str | int | None:
    """The key of a step that is known now and means the same as a subscript of Python."""
    if isinstance(step, syntax.Member):
        return step.key if isinstance(step.key, str) else None  # `.0` may be an index or a key
    at = step.at
    return at.value if isinstance(at, syntax.Constant) and type(at.value) in {str, int} else None  # type: ignore[return-value]


def is_plain(node: Node) -> bool:
    """A constant or a path of plain keys: evaluating it twice costs little."""
    root, steps = taken_apart(node)
    if isinstance(root, syntax.Constant):
        return not steps
    return isinstance(root, syntax.Name) and all(plain_key(each) is not None for each in steps)


@emits(syntax.Name)
@emits(syntax.Member)
@emits(syntax.Index)
def path(to: Emitter, node: Node) -> ast.expr:
    root, steps = taken_apart(node)
    if to.missing != "error" or any(isinstance(each, syntax.Member) and each.optional for each in steps):
        return tolerant(to, "reach", node)
    if not isinstance(root, syntax.Name):
        return _stepwise(to, to.emit(root), steps)
    local = to.scope.get(root.name)
    if local is not None:
        name, found = None, pieces.name(local)
    else:
        name = root.name
        line = to.spot(root, name)
        found = pieces.subscript(pieces.name("env", line), name, line)
    keys: tuple[str | int, ...] = ()
    for each in steps:
        key = plain_key(each)
        if key is None:
            break
        keys = (*keys, key)
        found = pieces.subscript(found, key, to.spot(each, name, local, keys))
    if name is not None:
        to.reads.add((name, *keys))
    return _stepwise(to, found, steps[len(keys) :])


def _stepwise(to: Emitter, found: ast.expr, steps: list[Step]) -> ast.expr:
    for each in steps:
        line = to.spot(each)
        if isinstance(each, syntax.Member):
            found = pieces.call("member", [found, pieces.constant(each.key, line)], line)
        else:
            found = pieces.call("index", [found, to.emit(each.at)], line)
    return found


def tolerant(to: Emitter, how: str, node: Node) -> ast.expr:
    """A value of which it is no error not to be there: `how` is one of the helpers of `reach`."""
    root, steps = taken_apart(node)
    line = to.spot(node)
    keys: list[ast.expr] = []
    if not isinstance(root, syntax.Name):
        first = to.emit(root)
    elif root.name in to.scope:
        first = pieces.name(to.scope[root.name], line)
    else:
        first = pieces.name("env", line)
        keys.append(pieces.constant(root.name, line))
        to.reads.add((root.name, *_known(steps)))
    keys += [pieces.constant(each.key) if isinstance(each, syntax.Member) else to.emit(each.at) for each in steps]
    return pieces.call(how, [first, *keys], line)


def _known(steps: list[Step]) -> list[str | int]:
    known: list[str | int] = []
    for each in steps:
        key = plain_key(each)
        if key is None:
            break
        known.append(key)
    return known


@emits(syntax.Slice)
def cut(to: Emitter, node: syntax.Slice) -> ast.expr:
    bounds = [pieces.constant(None) if each is None else to.emit(each) for each in (node.low, node.high, node.step)]
    return to.metered("cut", [to.emit(node.of), *bounds], node)
