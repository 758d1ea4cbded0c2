"""Variables that are defined by templates over one another: resolved in the order they need, cycles refused by name.

Only the *definitions* are read as templates. What they find in the environment is data and stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from perdure.errors import ExpressionError, ReferenceCycle
from perdure.expressions.limits import DEFAULT_LIMITS, Limits
from perdure.expressions.rendering import Mode
from perdure.expressions.template_parts import below
from perdure.expressions.templates import Template, compile_template
from perdure.expressions.values import Env, Json

_SHOWN = 12  # names of a cycle in the message; the details have all


def resolve_variables(
    definitions: Mapping[str, Json],
    env: Env | None = None,
    *,
    under: str | None = None,
    mode: Mode = "strict",
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, Json]:
    """The values of all definitions.

    A definition reads another as `${name}`, or as `${vars.name}` with `under="vars"`. It reads the environment as well,
    where a definition hides a name of the environment. A cycle raises `ReferenceCycle` before anything is evaluated.
    """
    templates = _compiled(definitions, mode, limits)
    order = _order(definitions, templates, under)
    values: dict[str, Json] = dict(definitions)
    scope: dict[str, Json] = dict(env or {})
    if under is not None:
        outer = scope.get(under)
        values = {**outer, **values} if isinstance(outer, Mapping) else values
        scope[under] = values
    for name in order:
        template, visible = templates[name], scope
        if under is not None and (under,) in template.reads:  # a copy, or it could become a part of itself
            visible = {**scope, under: {other: values[other] for other in values if other != name}}
        try:
            value = template.resolve(visible)
        except ExpressionError as fault:
            raise below(fault, name) from None
        values[name] = value
        if under is None:
            scope[name] = value
    return {name: values[name] for name in definitions}


def find_cycle(
    definitions: Mapping[str, Json], *, under: str | None = None, limits: Limits = DEFAULT_LIMITS
) -> list[str] | None:
    """The names of one cycle among definitions, the first repeated at the end, or None. For checks before a run."""
    try:
        _order(definitions, _compiled(definitions, "lenient", limits), under)
    except ReferenceCycle as fault:
        return list(fault.details["cycle"])
    return None


def _compiled(definitions: Mapping[str, Json], mode: Mode, limits: Limits) -> dict[str, Template]:
    templates: dict[str, Template] = {}
    for name, value in definitions.items():
        try:
            templates[name] = compile_template(value, mode=mode, limits=limits)
        except ExpressionError as fault:
            raise below(fault, name) from None
    return templates


def _order(definitions: Mapping[str, Json], templates: Mapping[str, Template], under: str | None) -> list[str]:
    """The names such that each comes after those it reads. Depth first, without recursion."""
    done: set[str] = set()
    order: list[str] = []
    for start in definitions:
        if start in done:
            continue
        open_: dict[str, list[str]] = {start: sorted(_needs(start, definitions, templates[start], under))}
        while open_:
            name, needs = next(reversed(open_.items()))
            if not needs:
                del open_[name]
                done.add(name)
                order.append(name)
                continue
            need = needs.pop()
            if need in open_:
                way = list(open_)
                raise _cycle([*way[way.index(need) :], need])
            if need not in done:
                open_[need] = sorted(_needs(need, definitions, templates[need], under))
    return order


def _needs(name: str, definitions: Mapping[str, Json], template: Template, under: str | None) -> Iterable[str]:
    """The definitions that a template reads. Whoever reads `vars` as a whole reads all others."""
    if under is None:
        return template.names & definitions.keys()
    needed: set[str] = set()
    for root, *keys in template.reads:
        if root == under:
            needed |= {str(keys[0])} & definitions.keys() if keys else definitions.keys() - {name}
    return needed


def _cycle(names: list[str]) -> ReferenceCycle:
    shown = names if len(names) <= _SHOWN else [*names[: _SHOWN - 2], "…", names[-1]]
    return ReferenceCycle(f"the definitions form a cycle: {' → '.join(shown)}", cycle=names)
