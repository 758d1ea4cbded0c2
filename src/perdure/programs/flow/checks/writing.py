"""Expressions, templates and scripts: each compiles, and reads only what there is to read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import msgspec

from perdure.errors import ExpressionError
from perdure.expressions import (
    DEFAULT_LIMITS,
    MissingPolicy,
    check_expression,
    check_template,
    compile_expression,
    compile_template,
)
from perdure.expressions import Problem as Fault
from perdure.expressions.gotemplate import compile_go_template, foreign_placeholders, is_go_template
from perdure.expressions.places import nearest
from perdure.expressions.queries import compile_query
from perdure.model.problems import Problem, Severity, pointed
from perdure.programs.flow.checks.sketch import NodeSketch, Sketch
from perdure.programs.flow.fields import Examined, Kind, Text, texts
from perdure.programs.flow.graph import bare
from perdure.programs.flow.names import ENVIRONMENT_NAMES

Read = tuple[str | int, ...]
_Names = tuple[frozenset[str], bool]
_SECTION = re.compile(r"\{\{[#^]\s*([^{}]*?)\s*\}\}.*?\{\{/\s*\1\s*\}\}", re.DOTALL)
MOST_STRINGS = DEFAULT_LIMITS.placeholders
"""Strings of one template that are looked at one by one; a template with more is refused as a whole."""


def of_node(sketch: Sketch, node: NodeSketch) -> Iterator[Problem]:
    scope = _Scope(sketch, node)
    if isinstance(node.raw.get("condition"), str):
        place = pointed(node.pointer, "condition")
        yield from scope.check(Text(place, Kind.EXPRESSION, node.raw["condition"]))
    cache = node.raw.get("cache")
    if isinstance(cache, dict) and isinstance(cache.get("key"), str):
        yield from scope.check(Text(pointed(node.pointer, "cache", "key"), Kind.TEMPLATE, cache["key"]))
    if node.type is not None and node.config:
        for each in texts(node.type.config, node.config, pointed(node.pointer, "config")):
            yield from scope.check(each)


def of_edges(sketch: Sketch) -> Iterator[Problem]:
    for edge in sketch.edges:
        if isinstance(edge.raw.get("when"), str):
            place = pointed(edge.pointer, "when")
            yield from _Scope(sketch, edge.source).check(Text(place, Kind.EXPRESSION, edge.raw["when"]))


class _Scope:
    """What can be read at a node: the names that everybody reads, and the variables of the loops around it."""

    def __init__(self, sketch: Sketch, node: NodeSketch | None) -> None:
        self.sketch = sketch
        self.node = node
        self.around = set(sketch.around(node)) if node is not None and node.parent is not None else {None}
        self.lenient = sketch.settings.get("missing") == "lenient"
        self.language: MissingPolicy = sketch.names.language if sketch.names is not None else "error"
        self._found: _Names | None = None

    @property
    def names(self) -> _Names:
        """And whether there may be others: those of a loop that cannot be made out."""
        if self._found is None:
            found = set(ENVIRONMENT_NAMES)
            is_sure = self.node is not None and not self.node.is_homeless and self.sketch.names is None
            for id in self.around:
                if id is not None:
                    more = self.sketch.remembered(id, _loop_variables)
                    found |= more or set()
                    is_sure = is_sure and more is not None
            self._found = frozenset(found), is_sure
        return self._found

    def check(self, text: Text) -> Iterator[Problem]:
        if text.kind is Kind.EXPRESSION:
            if isinstance(text.value, str):
                yield from self._expression(text)
        elif text.kind is Kind.QUERY:
            if isinstance(text.value, str):
                yield from _query(text)
        elif text.kind in (Kind.TEMPLATE, Kind.LETTER):
            for place, source in islice(_strings(text.value, text.pointer), MOST_STRINGS):
                if text.kind is Kind.LETTER and is_go_template(source):
                    yield from self._go_template(place, source)
                else:
                    yield from self._template(place, source, text.names)
        elif text.script is not None:
            yield from self._script(text, text.script)

    def _expression(self, text: Text) -> Iterator[Problem]:
        source = bare(text.value)
        try:
            reads = compile_expression(source, missing=self.language).reads
        except ExpressionError:
            before = text.value.find(source)
            for fault in check_expression(source, missing=self.language):
                column = fault.column + before if fault.line == 1 else fault.column
                yield _told(text.pointer, fault._replace(column=column), "error")
            return
        yield from self._names_in(reads, text.pointer, "error", text.names)

    def _template(self, place: str, source: str, more: frozenset[str]) -> Iterator[Problem]:
        severity: Severity = "warning" if self.lenient else "error"
        try:
            reads: Iterable[Read] = compile_template(source).reads
        except ExpressionError:
            for _, fault in check_template(source):
                # lenient: a placeholder with a mistake in it stays as it is; too much is too much in any mode
                yield _told(place, fault, "error" if fault.code == "EXPRESSION_LIMIT" else severity)
            return
        if "{{#" in source or "{{^" in source:
            severity = "warning"
            reads = _outside_of_sections(source, reads)
        yield from self._names_in(reads, place, severity, more)

    def _go_template(self, place: str, source: str) -> Iterator[Problem]:
        """Its names are those of its data, which are not known before. What other templates fill in, it does not."""
        try:
            compile_go_template(source)
        except ExpressionError as fault:
            yield _told(place, Fault.of(fault), "error")
            return
        for foreign in foreign_placeholders(source):
            if foreign.path is None:
                told = "this is a Go template, because of its {{ }} actions: it does not fill in ${ }"
                remedy = 'write {{.input.name}}, and {{"${"}} where the signs themselves are meant'
                severity: Severity = "warning" if self.lenient else "error"
            elif self.sketch.names is None:
                told = f"{{{{{foreign.path}}}}} stays as it is where it has no value: this is a Go template"
                remedy, severity = f"write {{{{.{foreign.path}}}}}", "warning"
            else:
                continue
            found = Fault("EXPRESSION_SYNTAX", foreign.line, foreign.column, told, remedy)
            yield _told(place, found, severity)

    def _script(self, text: Text, script: Examined) -> Iterator[Problem]:
        for problem in script.problems:
            yield msgspec.structs.replace(problem, pointer=text.pointer + problem.pointer)
        known = self.names[0] | text.names
        for name, place, line, column in script.names:
            if name not in known and self.names[1]:
                meant = nearest(name, known)
                hint = f"; did you mean {meant!r}?" if meant else ""
                told = f"nothing is called {name!r} here{hint}"
                names = f"one of {', '.join(sorted(known))}"
                yield Problem("SCRIPT_NAME", text.pointer + place, told, expected=names, line=line, column=column)
        for read in script.reads:
            if read[0] == "nodes" and len(read) > 1:
                yield from self._node(str(read[1]), text.pointer, "error")

    def _names_in(
        self, reads: Iterable[Read], place: str, severity: Severity, more: frozenset[str]
    ) -> Iterator[Problem]:
        for read in sorted(reads, key=str):
            root = str(read[0])
            if root == "nodes" and len(read) > 1 and self.sketch.names is None:
                yield from self._node(str(read[1]), place, severity)
            elif root not in self.names[0] and root not in more and self.names[1]:
                known = self.names[0] | more
                meant = nearest(root, known)
                hint = f"; did you mean {meant!r}?" if meant else ""
                told = f"nothing is called {root!r} here{hint}"
                names = f"one of {', '.join(sorted(known))}"
                yield Problem("NAME_UNKNOWN", place, told, expected=names, severity=severity)

    def _node(self, id: str, place: str, severity: Severity) -> Iterator[Problem]:
        found = self.sketch.by_id.get(id)
        if found is None:
            if self.sketch.excuses(id):
                return
            meant = self.sketch.hint(id)
            dashed = self.sketch.beginning_with(f"{id}-")
            told = f"there is no node {id!r}"
            remedy = None
            if dashed is not None:
                remedy = f'an id with a hyphen is written nodes["{dashed}"]'
            elif meant is not None:
                told += f"; did you mean {meant!r}?"
            yield Problem("NODE_REFERENCE_UNKNOWN", place, told, remedy=remedy, severity=severity)
        elif found.parent not in self.around and not found.is_homeless and self.names[1]:
            told = f"{id!r} belongs to the body of {found.parent!r}; its output is not seen from here"
            remedy = f"read the results of {found.parent!r} instead"
            yield Problem("NODE_REFERENCE_HIDDEN", place, told, remedy=remedy, severity="warning")


def _outside_of_sections(source: str, reads: Iterable[Read]) -> frozenset[Read]:
    """A name in a section may be one of its item, so only those of nodes are known to be what they say."""
    try:
        outside = compile_template(_SECTION.sub(r"{{\1}}", source)).reads
    except ExpressionError:
        outside = frozenset()
    return outside | {read for read in reads if read[0] == "nodes"}


def _query(text: Text) -> Iterator[Problem]:
    try:
        compile_query(text.value)
    except ExpressionError as fault:
        yield Problem(
            fault.code,
            text.pointer,
            fault.message,
            expected=fault.expected,
            remedy=fault.remedy,
            line=fault.line,
            column=fault.column,
        )


def _loop_variables(loop: NodeSketch | None) -> set[str] | None:
    """As the loop names them; None where it cannot be made out, which is told elsewhere."""
    if loop is None or loop.type is None or loop.type.loop is None or not isinstance(loop.raw.get("config", {}), dict):
        return None
    try:
        options = loop.type.loop(loop.type.config.model_validate(loop.config))
    except Exception:
        return None
    return {name for name in (options.item, options.index, options.accumulator) if name}


def _strings(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    """The strings that have placeholders in them, with their places."""
    if isinstance(value, str):
        if "${" in value or "{{" in value:
            yield pointer, value
    elif isinstance(value, dict):
        for key, item in value.items():
            if isinstance(item, str | dict | list):
                yield from _strings(item, pointed(pointer, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            if isinstance(item, str | dict | list):
                yield from _strings(item, pointed(pointer, number))


def _told(place: str, fault: Fault, severity: Severity) -> Problem:
    return Problem(
        fault.code, place, fault.message, remedy=fault.remedy, line=fault.line, column=fault.column, severity=severity
    )
