"""From nodes to a Python function.

The function is put together from a closed set of Python syntax nodes (`pieces`) and compiled; it is never text. Why
that is safe:

- No name of the user becomes a Python name. `order` is the constant in `env["order"]`, variables of comprehensions are
  numbered, and every other name is one of `NAMES`, whose `__builtins__` is empty and which nothing emitted can change.
- There is no attribute access. `a.b` is the subscript `a["b"]`, which a dict answers and everything else refuses, and
  `x.upper()` is a call of our own `upper` with x as argument, looked up in a closed table when the text is compiled. So
  there is no way from a JSON value to its class, to a frame or to a module; `__class__` is a key like any other.
- Whatever could be expensive is a call of a helper that pays the meter before it works.

Why it is fast: `order.total > limit` runs as three dictionary look-ups and one call. What goes wrong is sorted out
afterwards: the line number of every emitted node is the number of its spot, so the traceback says which spot failed,
and `explain` makes the precise error of it.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, Final

from perdure.expressions import gval, operators, reach
from perdure.expressions.emit import calls, operations, paths, pieces
from perdure.expressions.emit.emitter import Emitter, MissingPolicy, Spot
from perdure.expressions.emit.explain import FAULTS, Site, explain
from perdure.expressions.functions import TABLE
from perdure.expressions.limits import Limits
from perdure.expressions.syntax import Node
from perdure.expressions.values import bounded

#: Everything that a compiled expression can name.
NAMES: Final[dict[str, Any]] = {
    "__builtins__": {},
    "FAULTS": FAULTS,
    "explain": explain,
    "bounded": bounded,
    **{helper: getattr(operators, helper) for helper in operations.HELPERS.values()},
    **{helper: getattr(operators, helper) for helper in ("chain", "cut", "index", "member")},
    **{helper: getattr(operators, helper) for helper in ("negative", "positive", "text_key", "turns")},
    **{helper: getattr(reach, helper) for helper in ("reach", "there", "filled", "truthy")},
    **{f"g_{helper.__name__}": helper for helper in (*gval.HELPERS.values(), gval.chain, gval.contains)},
    **{f"f_{entry.name}": entry.call for entry in TABLE.values()},
}


def emit_function(node: Node, source: str, limits: Limits, missing: MissingPolicy) -> tuple[FunctionType, Emitter]:
    """The function `evaluate(env)` of an expression, and what was noted about it. Raises the first problem, if any."""
    to = Emitter(source, limits, missing)
    body = to.emit(node)
    if to.problems:
        raise to.problems[0]
    if to.builds:
        line = to.spot(node)
        body = pieces.call("bounded", [body, pieces.name("meter", line), pieces.constant(limits.result)], line)
        to.needs_meter = True
    module = pieces.function(body, (limits.steps, limits.work), metered=to.needs_meter)
    return pieces.assemble(module, NAMES, Site(source, tuple(to.spots))), to


__all__ = ["NAMES", "Emitter", "MissingPolicy", "Site", "Spot", "calls", "emit_function", "operations", "paths"]
