"""Templates: any JSON value whose strings may hold `${ }` and `{{ }}`.

- A string that is one placeholder and nothing else keeps the type of its value: `"${order.total}"` is a number.
- In a longer text values are written as text: null as nothing, lists and objects as JSON.
- `$${` is a literal `${`. Keys of objects are not templates.
- One pass: what a value holds is data, and is never read as a template.
- Nothing is HTML unless the caller says so (`escape="html"`, for the bodies of mails): `{{name}}` in a configuration
  means the name and not `O&#39;Brien`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from perdure.errors import ExpressionError
from perdure.expressions.expression import Problem, charged
from perdure.expressions.limits import DEFAULT_LIMITS, Limits, Meter
from perdure.expressions.rendering import Escape, Mode, Rendering, Text
from perdure.expressions.template_compiler import Compiler
from perdure.expressions.template_parts import Whole
from perdure.expressions.values import Env, Json

Partials = Mapping[str, str]


class Template:
    """A compiled template. Made by `compile_template`; immutable and safe to share between threads."""

    __slots__ = (
        "_direct",
        "_escape",
        "_limits",
        "_mode",
        "_partials",
        "_pretty",
        "_root",
        "is_static",
        "names",
        "reads",
        "value",
    )

    #: What it was compiled from.
    value: Json
    #: Whether nothing in it is dynamic: `resolve` then gives `value` itself.
    is_static: bool
    #: The root names that it may read. Names inside of Mustache sections count, though an item may have them.
    names: frozenset[str]
    #: The same with the constant keys that follow.
    reads: frozenset[tuple[str | int, ...]]

    def __init__(
        self, value: Json, mode: Mode, escape: Escape, limits: Limits, partials: Partials, pretty: bool = False
    ) -> None:
        compiler = Compiler(mode, limits, partials)
        self.value = value
        self._root = compiler.compile(value)
        self._mode: Mode = mode
        self._escape: Escape = escape
        self._limits = limits
        self._pretty = pretty
        self._partials = partials
        self.is_static = self._root is None
        self._direct = self._root.direct(escape, pretty) if isinstance(self._root, Whole) else None
        self.reads = frozenset(compiler.reads)
        self.names = frozenset(str(each[0]) for each in self.reads)

    def resolve(self, env: Env, mode: Mode | None = None, meter: Meter | None = None) -> Json:
        """The value with every placeholder filled from `env`.

        A value that is not there is an error (`strict`), leaves the text of its placeholder (`lenient`), or nothing
        (`blank`, Mustache's own rule). Without a mode it is the one that the template was compiled with. A caller who
        resolves several templates may give them one meter.
        """
        if self._root is None:
            return self.value
        if self._direct is not None:
            try:
                return self._direct(env) if meter is None else charged(self._direct, env, meter, self._limits)
            except ExpressionError:
                pass  # the long way finds out what it means in this mode, and where it is
        mode = mode or self._mode
        to = Rendering(env, mode, self._escape, self._limits, self._partial, meter, self._pretty)
        return self._root.resolve(to)

    def _partial(self, name: str, indent: str) -> Text | None:
        return _partial(self._partials.get(name), indent, self._limits)

    def __repr__(self) -> str:
        return f"Template({self.value!r})"


def compile_template(
    value: Json,
    *,
    mode: Mode = "strict",
    escape: Escape = "none",
    limits: Limits = DEFAULT_LIMITS,
    partials: Partials | None = None,
    pretty: bool = False,
) -> Template:
    """The template that a JSON value is. In lenient mode a placeholder with a mistake in it is kept as text.

    `pretty` is for letters: what a string gives is text in any case, lists and objects as indented JSON."""
    if isinstance(value, str) and partials is None and len(value) <= limits.source:
        return _compiled(value, mode, escape, limits, pretty)
    return Template(value, mode, escape, limits, partials or {}, pretty)


def check_template(
    value: Json, *, limits: Limits = DEFAULT_LIMITS, partials: Partials | None = None
) -> list[tuple[str, Problem]]:
    """What is wrong with each string of a value, by JSON pointer. Empty when it compiles. Never raises."""
    compiler = Compiler("strict", limits, partials or {}, collect=True)
    try:
        compiler.compile(value)
    except ExpressionError as fault:
        return [*compiler.found, (fault.pointer or "", Problem.of(fault))]
    return compiler.found


@lru_cache(maxsize=4_096)
def _compiled(value: str, mode: Mode, escape: Escape, limits: Limits, pretty: bool) -> Template:
    return Template(value, mode, escape, limits, {}, pretty)


@lru_cache(maxsize=256)
def _partial(source: str | None, indent: str, limits: Limits) -> Text | None:
    if source is None:
        return None
    if indent:
        source = "".join(indent + line for line in source.splitlines(keepends=True))
    return Compiler("strict", limits, None).text(source)
